import PatchFormat
import PatchStore
import PatchTrust

extension Download {
    /// A bundle's manifest with every signature checked; from the objects where it lies there, else from the server.
    mutating func manifest(of patch: InstalledPatch) async throws(SyncError) -> AssetManifest {
        guard
            let entry = list.entries.first(where: {
                $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID
            }),
            let column = patch.column
        else {
            throw .trust(.noTarget(role: list.list.channel.text, target: "\(patch.label) manifest.sigs"))
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

    /// A manifest or column from the objects, or from the server.
    private mutating func document(_ digest: SHA256Digest, path: String, limit: Int) async throws(SyncError) -> [UInt8]
    {
        let condition = try store.wrapped { () throws(FileError) in
            try store.objects.condition(of: digest, records: VerifiedRecords())
        }
        if case .intact = condition {
            return try store.wrapped { () throws(FileError) in try store.objects.read(digest, limit: limit) }
        }
        let bytes = try await engine.document(path, limit: limit, digest)
        outcome.filesReceived += 1
        outcome.bytesReceived += bytes.count
        return bytes
    }

    private func keep(_ bytes: [UInt8]) throws(SyncError) {
        let fingerprint = Fingerprint(of: bytes)
        if try !isIntact(fingerprint, unrecorded: true) {
            try removeDamaged(fingerprint.sha256)
            do throws(StoreError) { try store.objects.put(bytes, as: fingerprint) } catch {
                throw SyncError(error, entry: "")
            }
        }
    }
}
