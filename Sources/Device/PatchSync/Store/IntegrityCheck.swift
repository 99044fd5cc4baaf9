package import Linux
package import PatchChoice
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// One file of a patch that is missing or wrong.
package struct FileFault: Equatable, Sendable {
    package enum Wrong: Equatable, Sendable {
        case missing
        /// The property that differs: kind, size, md5, sha1 or sha256.
        case differs(String)
        /// The bytes are right, but no engine can read them.
        case unreadable
    }

    /// The patch and file, such as `web 1.0.0 app/main.js` or `fix-cart-total 1`.
    package let file: String
    package let wrong: Wrong

    /// The asset, or nil for a fault of a script or a manifest.
    package let asset: Asset?
}

/// Checks the files of installed patches on disk.
///
/// A file that has not changed since it was verified is not hashed again.
package struct IntegrityCheck {
    let store: DeviceStore
    package private(set) var records: VerifiedRecords
    /// The records of the embedded files.
    private var shipped: VerifiedRecords
    /// Manifests of bundles whose index was read from its file.
    private var indexed: Set<SHA256Digest> = []
    /// Called with the number of files checked by ``faults(of:_:)``.
    var looked: @Sendable (_ files: Int) -> Void = { _ in }

    package init(store: DeviceStore, records: VerifiedRecords) {
        self.init(store: store, records: records, shipped: store.shippedRecords())
    }

    /// - Parameter shipped: The records of the embedded files.
    init(store: DeviceStore, records: VerifiedRecords, shipped: VerifiedRecords) {
        self.store = store
        self.records = records
        self.shipped = shipped
    }

    /// All faults of a patch's files.
    ///
    /// Empty if the patch is complete and intact.
    ///
    /// - Parameter known: The patch's manifest, if it was read and verified just now.
    package mutating func faults(
        of patch: InstalledPatch,
        _ known: AssetManifest? = nil
    ) throws(SyncError) -> [FileFault] {
        switch patch.kind {
        case .script:
            defer { looked(1) }
            return try object(patch.fingerprint, named: patch.label.description, mustBeText: true).map { [$0] } ?? []
        case .bundle:
            if isUntouched(patch) { return [] }
            if let fault = try manifestFault(of: patch) { return [fault] }
            guard let manifest = try manifest(of: patch, known) else {
                return [FileFault(file: "\(patch.label) manifest", wrong: .unreadable, asset: nil)]
            }
            let bundle = patch.fingerprint.sha256
            var faults: [FileFault] = []
            try forSuspicious(manifest.assets, in: bundle) { check, asset throws(SyncError) in
                if let wrong = try check.wrong(with: asset, in: bundle) {
                    faults.append(FileFault(file: "\(patch.label) \(asset.path)", wrong: wrong, asset: asset))
                }
            }
            return faults
        }
    }

    /// Passes on the assets whose file is not the recorded one.
    ///
    /// Compares some thousands at a time.
    private mutating func forSuspicious(
        _ assets: [Asset],
        in bundle: SHA256Digest,
        _ body: (inout IntegrityCheck, Asset) throws(SyncError) -> Void
    ) throws(SyncError) {
        var rest = assets[...]
        while !rest.isEmpty {
            let some = rest.prefix(FileIdentity.batch)
            rest = rest.dropFirst(some.count)
            // Disk errors are reported by the closer check.
            let found = try? store.files.identities(of: some.map(\.path.text), below: store.bundle(bundle))
            for (number, asset) in some.enumerated() {
                let identity = found?[number]
                let isRecorded =
                    identity != nil && identity == records[asset.fingerprint.sha256]
                    && identity?.size == asset.fingerprint.size
                if !isRecorded { try body(&self, asset) }
                looked(1)
            }
        }
    }

    /// The fault of a bundle's manifest, if any.
    package mutating func manifestFault(of patch: InstalledPatch) throws(SyncError) -> FileFault? {
        try object(patch.fingerprint, named: "\(patch.label) manifest", mustBeText: false)
    }

    /// Whether every file of a bundle is the recorded one and its manifest is unchanged.
    ///
    /// No file is parsed.
    ///
    /// Disk errors are reported by the closer check.
    private mutating func isUntouched(_ patch: InstalledPatch) -> Bool {
        let digest = patch.fingerprint.sha256
        guard let index = store.index(of: digest) else { return false }
        indexed.insert(digest)
        guard let place = try? store.place(of: digest), let manifest = try? store.files.status(of: place.path),
            manifest.kind == .file, recorded(digest, at: place) == manifest.identity,
            // The manifest is hashed: it is no longer read elsewhere, so damage to it on the medium would stay undetected.
            let bytes = try? store.bytes(of: digest, limit: Limits.manifest), SHA256Digest(of: bytes) == digest
        else { return false }
        let (store, check) = (store, self)
        return (0..<index.count).allSatisfyOnAllCores { rows in
            guard let found = try? store.files.identities(of: rows.map(index.path), below: store.bundle(digest)) else {
                return false
            }
            return rows.allSatisfy { row in
                index.sha256(of: row).map { check.isRecorded(found[row - rows.lowerBound], $0) } ?? false
            }
        }
    }

    /// - Parameter own: The bundle's own file, or nil if it does not exist and the embedded file may be used.
    private func isRecorded(_ own: FileIdentity?, _ digest: SHA256Digest) -> Bool {
        if let own { return records[digest] == own }
        guard let shipped = shipped[digest], let path = store.embedded?.file(digest) else { return false }
        return (try? store.files.identity(of: path)) == shipped
    }

    /// The index of a bundle, created from its manifest, or nil if the manifest is unreadable.
    ///
    /// - Parameter known: The manifest, if it was read and verified just now.
    package func index(
        of patch: InstalledPatch,
        _ known: AssetManifest? = nil
    ) throws(SyncError) -> BundleIndex? {
        try manifest(of: patch, known).flatMap { BundleIndex($0, manifest: patch.fingerprint.sha256) }
    }

    /// Whether the index of a bundle was read from its file and is valid.
    func hasIndex(of patch: InstalledPatch) -> Bool {
        indexed.contains(patch.fingerprint.sha256)
    }

    /// The manifest of a bundle whose object is intact, or nil if it is unreadable.
    ///
    /// - Parameter known: The manifest, if it was read and verified just now.
    package func manifest(
        of patch: InstalledPatch,
        _ known: AssetManifest? = nil
    ) throws(SyncError) -> AssetManifest? {
        if let known { return known }
        let bytes = try store.wrapped { () throws(FileError) in
            try store.bytes(of: patch.fingerprint.sha256, limit: Limits.manifest)
        }
        let manifest = try? AssetManifest(from: bytes, named: "\(patch.label) manifest")
        if let failure = bytes.failure { throw .file(failure) }
        return manifest
    }

    /// Whether every signature of a bundle's column was checked, and the stored column is still the same.
    mutating func hasCheckedColumn(of patch: InstalledPatch) throws(SyncError) -> Bool {
        guard let column = patch.column else { return true }
        guard store.hasChecked(column, of: patch.fingerprint.sha256) else { return false }
        return try hasColumn(of: patch)
    }

    /// Whether the signature column that the role lists is stored intact.
    ///
    /// The signatures themselves are not checked.
    ///
    /// Running versions do not need their signatures, so a missing column is not a fault.
    mutating func hasColumn(of patch: InstalledPatch) throws(SyncError) -> Bool {
        guard let column = patch.column else { return true }
        let (place, condition) = try condition(of: column, expected: nil)
        guard case .intact(let identity) = condition else { return false }
        record(identity, of: column, at: place)
        return true
    }

    /// The state of the whole patch: its first fault, if any.
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
        let (place, condition) = try condition(of: digest, expected: fingerprint)
        switch condition {
        case .missing: return FileFault(file: name, wrong: .missing, asset: nil)
        case .damaged(let field): return FileFault(file: name, wrong: .differs(field), asset: nil)
        case .intact(let identity):
            if recorded(digest, at: place) == identity { return nil }
            if mustBeText {
                let bytes = try store.wrapped { () throws(FileError) in
                    try store.files.read(place.path, limit: Limits.object)
                }
                guard String(validating: bytes, as: UTF8.self) != nil else {
                    return FileFault(file: name, wrong: .unreadable, asset: nil)
                }
            }
            record(identity, of: digest, at: place)
            return nil
        }
    }

    /// The state of the file of a script, manifest or column.
    ///
    /// A file that is unchanged since it was recorded is not hashed.
    func condition(
        of digest: SHA256Digest,
        expected: Fingerprint?,
        unrecorded: Bool = false
    ) throws(SyncError) -> (FileLocation, ObjectCondition) {
        try store.wrapped { () throws(FileError) in
            let place = try store.place(of: digest)
            let recorded = unrecorded ? nil : recorded(digest, at: place)
            return (
                place, try store.files.condition(of: place.path, digest, expected: expected, recorded: recorded)
            )
        }
    }

    /// Checks an asset's file.
    ///
    /// It is a link to its object, so that one record covers both names, or the embedded file.
    private mutating func wrong(with asset: Asset, in bundle: SHA256Digest) throws(SyncError) -> FileFault.Wrong? {
        let (expected, digest) = (asset.fingerprint, asset.fingerprint.sha256)
        let (place, condition) = try store.wrapped { () throws(FileError) in
            let place = try store.place(of: asset, in: bundle)
            let recorded = recorded(digest, at: place)
            return (
                place, try store.files.condition(of: place.path, digest, expected: expected, recorded: recorded)
            )
        }
        switch condition {
        case .missing: return .missing
        case .damaged(let field): return .differs(field)
        case .intact(let identity):
            record(identity, of: digest, at: place)
            return nil
        }
    }

    /// Whether these bytes are embedded and intact.
    ///
    /// They are then used in place, and neither downloaded nor linked.
    mutating func isEmbedded(_ fingerprint: Fingerprint) throws(SyncError) -> Bool {
        try isEmbedded(fingerprint.sha256, expected: fingerprint)
    }

    mutating func isEmbedded(_ digest: SHA256Digest, expected: Fingerprint? = nil) throws(SyncError) -> Bool {
        guard let path = store.embedded?.file(digest) else { return false }
        let condition = try store.wrapped { () throws(FileError) in
            try store.files.condition(of: path, digest, expected: expected, recorded: shipped[digest])
        }
        guard case .intact(let identity) = condition else { return false }
        shipped[digest] = identity
        return true
    }

    func recorded(_ digest: SHA256Digest, at place: FileLocation) -> FileIdentity? {
        place.isEmbedded ? shipped[digest] : records[digest]
    }

    /// - Parameter place: The location of the file whose digest was compared.
    package mutating func record(_ identity: FileIdentity, of digest: SHA256Digest, at place: FileLocation) {
        if place.isEmbedded { shipped[digest] = identity } else { records[digest] = identity }
    }

    /// Records objects that were hashed while they were downloaded.
    mutating func record(_ objects: [SHA256Digest: FileIdentity]) {
        for (digest, identity) in objects { records[digest] = identity }
    }

    package mutating func forget(_ digest: SHA256Digest) {
        records[digest] = nil
        shipped[digest] = nil
    }

    /// Keeps the records valid across changes of hard links, which change a file's identity.
    mutating func carrying(
        _ digests: some Collection<SHA256Digest>,
        over change: () throws(FileError) -> Void
    ) throws(SyncError) {
        do throws(FileError) {
            try store.objects.carrying(&records, of: digests, over: change)
        } catch { throw .file(error) }
    }

    package func save() throws(SyncError) {
        if records.isChanged { try store.save(records) }
        if store.embedded != nil, shipped.isChanged { try store.save(shipped: shipped) }
    }
}

extension IntegrityCheck {
    mutating func keep(only digests: Set<SHA256Digest>) {
        records.keep(only: digests)
    }
}
