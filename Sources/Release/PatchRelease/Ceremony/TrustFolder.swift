package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// A holder's folder: `root.json` and `targets.json`, earlier roots, and a pending draft.
///
/// ```
/// root.json, targets.json   current
/// N.root.json               every root that a draft replaced, and its successor: devices follow this chain
/// trust.draft               a ceremony's draft that other holders still have to sign
/// ```
package struct TrustFolder: Sendable {
    package static let draftFile = "trust.draft"

    package let folder: FilePath
    package let policy: KeyPolicy
    package let files: any FileOperations

    package init(_ folder: FilePath, policy: KeyPolicy, files: any FileOperations) {
        self.folder = folder
        self.policy = policy
        self.files = files
    }

    package var draftPath: FilePath { folder.at(Self.draftFile) }

    /// The rules, including the entry keys that the folder contains.
    package func rules() throws(SigningError) -> TrustRules {
        let pairs = KeyFolder(folder, files: files)
        let names = [RootOfTrustPlan.entry, KeyFolder.next(RootOfTrustPlan.entry)]
        let entry = try pairs.publicKeys().filter { names.contains($0.name) }
        return TrustRules(policy: policy, entryKeys: entry.map(\.key))
    }

    /// The current roles, verified; nil if the folder contains neither yet.
    package func current() throws(SigningError) -> TopRoles? {
        let status = try onDisk { () throws(FileError) in
            try files.status(of: folder.at(ReleaseTrust.rootFile))
        }
        guard status != nil else { return nil }
        return try ReleaseTrust(folder: folder, policy: policy, files: files).roles
    }

    package func draft(at path: FilePath) throws(SigningError) -> TrustDraft {
        let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: Limits.trustDraft) }
        do throws(FormatError) {
            return try TrustDraft(bytes)
        } catch { throw .ceremony(path, .malformed(error)) }
    }

    /// Compares the draft at `path` with the current roles.
    package func change(at path: FilePath) throws(SigningError) -> TrustChange {
        try change(try draft(at: path), at: path)
    }

    package func change(_ draft: TrustDraft, at path: FilePath) throws(SigningError) -> TrustChange {
        let (base, rules) = (try current(), try rules())
        return try ceremony(path) { () throws(CeremonyError) in
            try TrustChange(draft, from: base, rules: rules)
        }
    }

    /// Writes a draft.
    ///
    /// Afterwards the old draft or the new one is stored, durably.
    ///
    /// - Throws: `.exists` if a file exists and may not be replaced.
    package func save(_ draft: TrustDraft, to path: FilePath, replacing: Bool) throws(SigningError) {
        if !replacing, try onDisk({ () throws(FileError) in try files.status(of: path) }) != nil {
            throw .exists(path)
        }
        try onDisk { () throws(FileError) in
            try files.replace(
                path.name ?? Self.draftFile,
                in: path.parent,
                with: draft.fileBytes,
                permissions: .publicFile
            )
        }
    }
}

extension TrustFolder {
    /// A draft of these changes, made from `base`.
    package func draft(
        _ edits: [TrustEdit],
        on base: TopRoles,
        at time: UTCTime,
        validity: Duration = TrustDraft.validity
    ) throws(SigningError) -> TrustDraft {
        let rules = try rules()
        return try ceremony(folder) { () throws(CeremonyError) in
            try TrustDraft(edits, on: base, at: time, validity: validity, rules: rules)
        }
    }

    /// Merges the signatures of another draft, which was read from `other`.
    package func merge(
        _ draft: TrustDraft,
        at other: FilePath,
        into change: TrustChange,
        at path: FilePath
    ) throws(SigningError) -> TrustChange {
        let merged = try ceremony(other) { () throws(CeremonyError) in try change.merged(with: draft) }
        return try self.change(merged, at: path)
    }
}

extension ReleaseTrust {
    package func authorities() throws(SigningError) -> Authorities {
        try ceremony(folder) { () throws(CeremonyError) in try Authorities(roles) }
    }
}
