package import PatchFormat
package import PatchStore
import PatchTrust
import SystemPackage

/// One file of a patch that is not as it should be.
package struct FileFault: Equatable, Sendable {
    package enum Wrong: Equatable, Sendable {
        case missing
        /// In this: kind, size, md5, sha1 or sha256.
        case differs(String)
        /// The right bytes, which nothing can take.
        case unreadable
    }

    /// `web 1.0.0 app/main.js`, `fix-cart-total 1`.
    package let file: String
    package let wrong: Wrong

    /// Nil for a fault of a script or a manifest, the asset otherwise.
    package let asset: Asset?
}

/// Looks at what stands on disk of installed patches.
///
/// What was verified and has not changed since is not hashed again.
package struct Examination {
    private let store: DeviceStore
    package private(set) var records: VerifiedRecords
    /// Of bundles that were looked at.
    private var indexes: [SHA256Digest: BundleIndex] = [:]

    package init(store: DeviceStore, records: VerifiedRecords) {
        self.store = store
        self.records = records
    }

    /// Everything that is wrong with a patch's files; empty when it is complete and intact.
    package mutating func faults(of patch: InstalledPatch) throws(SyncError) -> [FileFault] {
        switch patch.kind {
        case .script:
            return try object(patch.fingerprint, named: patch.label.description, mustBeText: true).map { [$0] } ?? []
        case .bundle:
            if isUntouched(patch) { return [] }
            if let fault = try object(patch.fingerprint, named: "\(patch.label) manifest", mustBeText: false) {
                return [fault]
            }
            guard let manifest = try manifest(of: patch) else {
                return [FileFault(file: "\(patch.label) manifest", wrong: .unreadable, asset: nil)]
            }
            let folder = store.bundle(patch.fingerprint.sha256)
            var faults: [FileFault] = []
            for asset in manifest.assets {
                if let wrong = try wrong(with: asset, at: folder.appending(asset.path.text)) {
                    faults.append(FileFault(file: "\(patch.label) \(asset.path)", wrong: wrong, asset: asset))
                }
            }
            return faults
        }
    }

    /// Whether every file of a bundle is the one that was recorded, and its manifest what it was; neither is parsed.
    ///
    /// A disk that cannot be looked at is for the closer look to report.
    private mutating func isUntouched(_ patch: InstalledPatch) -> Bool {
        let digest = patch.fingerprint.sha256
        guard let index = store.index(of: digest) else { return false }
        indexes[digest] = index
        let paths = (0..<index.count).map(index.path)
        guard let manifest = try? store.files.status(of: store.objects.path(of: digest)), manifest.kind == .file,
            records[digest] == manifest.identity,
            let found = try? store.files.identities(of: paths, below: store.bundle(digest)),
            // Nobody else reads it any more, so what its medium does to it would not be seen.
            let bytes = try? store.objects.bytes(of: digest, limit: Limits.manifest), SHA256Digest(of: bytes) == digest
        else { return false }
        return found.indices.allSatisfy { row in
            guard let file = found[row], let sha256 = index.sha256(of: row) else { return false }
            return records[sha256] == file
        }
    }

    /// The index of a bundle, from its file or made of its manifest; nil when that cannot be read.
    package mutating func index(of patch: InstalledPatch) throws(SyncError) -> BundleIndex? {
        let digest = patch.fingerprint.sha256
        if let known = indexes[digest] { return known }
        let made = try manifest(of: patch).flatMap { BundleIndex($0, manifest: digest) }
        indexes[digest] = made
        return made
    }

    /// Whether the index of a bundle was found in its file and is right.
    func hasIndex(of patch: InstalledPatch) -> Bool {
        indexes[patch.fingerprint.sha256] != nil
    }

    /// The manifest of a bundle whose object is intact; nil when it cannot be read.
    package func manifest(of patch: InstalledPatch) throws(SyncError) -> AssetManifest? {
        let bytes = try store.wrapped { () throws(FileError) in
            try store.objects.bytes(of: patch.fingerprint.sha256, limit: Limits.manifest)
        }
        let manifest = try? AssetManifest(from: bytes, named: "\(patch.label) manifest")
        if let failure = bytes.failure { throw .file(failure) }
        return manifest
    }

    /// Whether a bundle's signatures are there as they were verified.
    ///
    /// Nothing that runs needs them, so their absence is no fault.
    mutating func hasColumn(of patch: InstalledPatch) throws(SyncError) -> Bool {
        guard let column = patch.column else { return true }
        let condition = try store.wrapped { () throws(FileError) in
            try store.objects.condition(of: column, records: records)
        }
        guard case .intact(let identity) = condition else { return false }
        records[column] = identity
        return true
    }

    /// The patch as one thing: its first fault, if any.
    package mutating func onDisk(_ patch: InstalledPatch) throws(SyncError) -> PatchOnDisk {
        guard let first = try faults(of: patch).first else { return .intact }
        switch first.wrong {
        case .missing: return .missing(first.file)
        case .differs(let field): return .damaged(first.file, field: field)
        case .unreadable: return .unreadable(first.file)
        }
    }

    private mutating func object(
        _ fingerprint: Fingerprint,
        named name: String,
        mustBeText: Bool
    ) throws(SyncError) -> FileFault? {
        let digest = fingerprint.sha256
        let condition = try store.wrapped { () throws(FileError) in
            try store.objects.condition(of: digest, expected: fingerprint, records: records)
        }
        switch condition {
        case .missing: return FileFault(file: name, wrong: .missing, asset: nil)
        case .damaged(let field): return FileFault(file: name, wrong: .differs(field), asset: nil)
        case .intact(let identity):
            if records[digest] == identity { return nil }
            if mustBeText {
                let bytes = try store.wrapped { () throws(FileError) in
                    try store.objects.read(digest, limit: Limits.object)
                }
                guard String(validating: bytes, as: UTF8.self) != nil else {
                    return FileFault(file: name, wrong: .unreadable, asset: nil)
                }
            }
            records[digest] = identity
            return nil
        }
    }

    /// An asset under its path in the bundle's folder: a link to its object, so one record serves both names.
    private mutating func wrong(with asset: Asset, at path: FilePath) throws(SyncError) -> FileFault.Wrong? {
        let expected = asset.fingerprint
        let status = try store.wrapped { () throws(FileError) in try store.files.status(of: path) }
        guard let status else { return .missing }
        guard status.kind == .file else { return .differs("kind") }
        guard status.identity.size == expected.size else { return .differs("size") }
        if records[expected.sha256] == status.identity { return nil }
        var digester = Digester()
        try store.wrapped { () throws(FileError) in
            try store.files.readChunks(path, limit: expected.size) { digester.update($0) }
        }
        if let field = digester.finish().firstDifference(from: expected) { return .differs(field) }
        records[expected.sha256] = status.identity
        return nil
    }

    /// An object that was digested on its way in.
    mutating func record(_ digest: SHA256Digest, as identity: FileIdentity) {
        records[digest] = identity
    }

    package mutating func forget(_ digest: SHA256Digest) {
        records[digest] = nil
    }

    /// For changes of links, which change what a record says.
    mutating func carrying(
        _ digests: [SHA256Digest],
        over change: () throws(FileError) -> Void
    ) throws(SyncError) {
        do throws(FileError) {
            try store.objects.carrying(&records, of: digests, over: change)
        } catch { throw .file(error) }
    }

    package func save() throws(SyncError) {
        if records.isChanged { try store.save(records) }
    }
}

extension Examination {
    mutating func keep(only digests: Set<SHA256Digest>) {
        records.keep(only: digests)
    }
}
