import PatchFormat
import PatchStore
import PatchTrust

extension Download {
    /// A bundle's manifest, from where it lies on this device, else from the server.
    ///
    /// Every signature of a listed one is checked. One that is installed and not listed any more, or by another channel,
    /// was checked then: it is the same by its digest.
    mutating func manifest(of wanted: SyncPlan.Wanted) async throws(SyncError) -> AssetManifest {
        let patch = wanted.patch
        guard let entry = listed(patch), let column = patch.column else {
            guard !wanted.isNew else {
                throw .trust(.noTarget(role: list.list.channel.text, target: "\(patch.label) manifest.sigs"))
            }
            return try await installedManifest(of: patch)
        }
        let columnPath = TargetPath.signatureColumn(
            channel: list.list.channel,
            patchID: patch.patchID,
            version: patch.version
        )
        let manifestBytes = try await document(patch.fingerprint.sha256, path: patch.url, limit: patch.fingerprint.size)
        let columnBytes = try await document(
            column,
            path: URLLayout.target(columnPath, sha256: column),
            limit: min(plan.columnSizes[column] ?? Limits.signatureColumn, Limits.signatureColumn)
        )
        guard SHA256Digest(of: columnBytes) == column else {
            throw .trust(.wrongDigest(name: columnPath.text, algorithm: "sha256"))
        }
        let verified: VerifiedManifest
        do throws(TrustError) {
            verified = try VerifiedManifest(
                manifestBytes,
                column: columnBytes,
                of: entry,
                app: list.list.app,
                keys: list.entryKeys
            )
        } catch { throw .trust(error) }
        try keep(manifestBytes)
        try keep(columnBytes)
        return verified.manifest
    }

    func listed(_ patch: InstalledPatch) -> PatchEntry? {
        list.entries.first { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    private mutating func installedManifest(of patch: InstalledPatch) async throws(SyncError) -> AssetManifest {
        let name = "\(patch.label) manifest"
        let bytes = try await document(patch.fingerprint.sha256, path: patch.url, limit: patch.fingerprint.size)
        if let field = Fingerprint(of: bytes).firstDifference(from: patch.fingerprint) {
            throw .object(entry: name, field: field)
        }
        try keep(bytes)
        do throws(FormatError) { return try AssetManifest(bytes, named: name) } catch { throw .format(error) }
    }

    /// A manifest or column from this device, or from the server.
    private mutating func document(_ digest: SHA256Digest, path: String, limit: Int) async throws(SyncError) -> [UInt8]
    {
        let (place, condition) = try examination.condition(of: digest, expected: nil, unrecorded: true)
        if case .intact = condition {
            return try store.wrapped { () throws(FileError) in try store.files.read(place.path, limit: limit) }
        }
        if let shipped = store.embedded?.file(digest), try examination.isEmbedded(digest) {
            return try store.wrapped { () throws(FileError) in try store.files.read(shipped, limit: limit) }
        }
        do throws(FetchError) {
            let bytes = try await engine.fetcher.bytes(path, limit: limit, deadline: engine.deadlines.document)
            outcome.filesReceived += 1
            outcome.bytesReceived += bytes.count
            return bytes
        } catch { throw .fetch(error) }
    }

    private mutating func keep(_ bytes: [UInt8]) throws(SyncError) {
        let fingerprint = Fingerprint(of: bytes)
        if try !isIntact(fingerprint, unrecorded: true) {
            try removeDamaged(fingerprint.sha256)
            do throws(StoreError) { try store.objects.put(bytes, as: fingerprint) } catch {
                throw SyncError(error, entry: "")
            }
        }
    }
}
