package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

extension TrustFolder {
    /// The progress of publishing a draft in a folder.
    package enum Stage: Equatable, Sendable {
        /// The folder contains the roles that the draft was made from.
        case base
        /// Publishing was interrupted: targets are the draft's, root is still the old one.
        case begun
        case published
    }

    /// - Throws: `moved` if the folder contains other roles.
    package func stage(of draft: TrustDraft, at path: FilePath) throws(SigningError) -> Stage {
        let root = try version(in: ReleaseTrust.rootFile, role: "root", limit: Limits.root)
        let targets = try version(in: ReleaseTrust.targetsFile, role: "targets", limit: Limits.targetsRole)
        let next = (draft.root.map(\.identity), draft.targets.map(\.identity))
        let isRootNext = root?.sha256 == next.0 ?? draft.base?.root.sha256
        let isTargetsNext = targets?.sha256 == next.1 ?? draft.base?.targets.sha256
        if isRootNext, isTargetsNext { return .published }
        guard root == draft.base?.root else {
            throw .ceremony(
                path,
                .moved(role: "root", base: draft.base?.root.version, found: root?.version)
            )
        }
        if isTargetsNext, draft.targets != nil { return .begun }
        guard targets == draft.base?.targets else {
            throw .ceremony(
                path,
                .moved(role: "targets", base: draft.base?.targets.version, found: targets?.version)
            )
        }
        return .base
    }

    /// Replaces the folder's root and targets with those of a complete draft, or finishes an interrupted publish.
    ///
    /// The files are written in this order, each atomically: the previous root as `M.root.json`, the next as `N.root.json`,
    /// `targets.json`, and `root.json` last. Afterwards all of them are durable. After a crash, the same call continues.
    /// - Returns: false if the folder contained the draft's roles already.
    @discardableResult
    package func publish(_ draft: TrustDraft, at time: UTCTime, from path: FilePath) throws(SigningError) -> Bool {
        switch try stage(of: draft, at: path) {
        case .published: return false
        case .base:
            let change = try change(draft, at: path)
            try ceremony(path) { () throws(CeremonyError) in try change.checkReady(at: time) }
        case .begun: try checkSignaturesAgain(of: draft, from: path)
        }
        if let root = draft.root {
            if let base = draft.base?.root {
                try put(try read(ReleaseTrust.rootFile, limit: Limits.root), as: Self.historyFile(base.version))
            }
            let version = try parsed(root, at: path).header.version
            try put(root.fileBytes, as: Self.historyFile(version))
        }
        if let targets = draft.targets { try put(targets.fileBytes, as: ReleaseTrust.targetsFile) }
        if let root = draft.root { try put(root.fileBytes, as: ReleaseTrust.rootFile) }
        return true
    }

    static func historyFile(_ version: Int) -> String { "\(version).root.json" }

    /// The base's targets were replaced already, so the draft cannot be compared with them again.
    ///
    /// Its signatures can be counted.
    private func checkSignaturesAgain(of draft: TrustDraft, from path: FilePath) throws(SigningError) {
        var base: RootRole?
        if draft.base != nil {
            let bytes = try read(ReleaseTrust.rootFile, limit: Limits.root)
            base = try parsed(try envelope(bytes, role: "root", limit: Limits.root), at: path)
        }
        guard let root = try draft.root.map({ (root) throws(SigningError) in try parsed(root, at: path) }) ?? base
        else {
            preconditionFailure("a draft without a base holds a root")
        }
        let lacks = TrustChange.quorums(of: draft, base, root).lacks
        guard lacks.isEmpty else { throw .ceremony(path, .incomplete(lacks)) }
    }

    private func put(_ bytes: [UInt8], as name: String) throws(SigningError) {
        try onDisk { () throws(FileError) in
            try files.replace(name, in: folder, with: bytes, permissions: .publicFile)
        }
    }

    private func read(_ name: String, limit: Int) throws(SigningError) -> [UInt8] {
        try onDisk { () throws(FileError) in try files.read(folder.at(name), limit: limit) }
    }

    private func envelope(_ bytes: [UInt8], role: String, limit: Int) throws(SigningError) -> Envelope {
        do throws(FormatError) {
            return try Envelope(bytes, role: role, limit: limit)
        } catch { throw .rootOfTrust(folder.at("\(role).json"), .malformed(error)) }
    }

    private func parsed(_ root: Envelope, at path: FilePath) throws(SigningError) -> RootRole {
        do throws(FormatError) { return try RootRole(root) } catch { throw .ceremony(path, .malformed(error)) }
    }

    /// Returns nil if the file does not exist.
    private func version(in name: String, role: String, limit: Int) throws(SigningError) -> TrustDraft.Version? {
        let status = try onDisk { () throws(FileError) in try files.status(of: folder.at(name)) }
        guard status != nil else { return nil }
        let envelope = try envelope(try read(name, limit: limit), role: role, limit: limit)
        do throws(FormatError) {
            let version = try Fields(envelope.signed, of: role).integer("version", in: 1...(1 << 53 - 1))
            return TrustDraft.Version(version: version, sha256: envelope.identity)
        } catch { throw .rootOfTrust(folder.at(name), .malformed(error)) }
    }
}
