import PatchFormat
import PatchStore
import PatchTrust

extension Download {
    /// A bundle's manifest, from where it lies on this device, else from the server.
    ///
    /// Every signature of a listed one is checked. One that is installed and not listed any more, or by another channel,
    /// was checked then: it is the same by its digest. Both documents become objects first and are read from there: neither
    /// is ever held as a whole.
    mutating func manifest(of wanted: SyncPlan.Wanted) async throws(SyncError) -> AssetManifest {
        let patch = wanted.patch
        guard let entry = listed(patch), let column = patch.column else {
            guard !wanted.isNew else {
                throw .trust(.noTarget(role: list.list.channel.text, target: "\(patch.label) manifest.sigs"))
            }
            return try await installedManifest(of: patch)
        }
        var new: [SHA256Digest] = []
        do throws(SyncError) {
            if try await receiveManifest(of: patch) { new.append(patch.fingerprint.sha256) }
            if try await receiveColumn(column, of: patch) { new.append(column) }
            return try await verified(entry, column).manifest
        } catch {
            // What is refused leaves nothing behind; what was there already may be what runs.
            if case .trust = error { for digest in new { try? store.objects.remove(digest) } }
            throw error
        }
    }

    /// - Returns: whether it was not there.
    private mutating func receiveManifest(of patch: InstalledPatch) async throws(SyncError) -> Bool {
        let name = "\(patch.label) manifest"
        guard try !isIntact(patch.fingerprint, unrecorded: true) else { return false }
        try removeDamaged(patch.fingerprint.sha256)
        switch await engine.receive(ObjectRequest(patch.fingerprint, path: patch.url, entry: name)) {
        case nil: count(patch.fingerprint.size)
        case .object(entry: _, let field): throw .trust(.entry(EntryFault(entry: name, rule: .differs(field))))
        case let error?: throw error
        }
        return true
    }

    /// A role names a column by its SHA-256 and size alone.
    ///
    /// - Returns: whether it was not there.
    private mutating func receiveColumn(
        _ column: SHA256Digest,
        of patch: InstalledPatch
    ) async throws(SyncError) -> Bool {
        guard try !isIntact(column, expected: nil, unrecorded: true) else { return false }
        try removeDamaged(column)
        let target = TargetPath.signatureColumn(
            channel: list.list.channel,
            patchID: patch.patchID,
            version: patch.version
        )
        let limit = min(plan.columnSizes[column] ?? Limits.signatureColumn, Limits.signatureColumn)
        count(try await engine.receive(column, path: URLLayout.target(target, sha256: column), limit: limit, target))
        return true
    }

    private mutating func count(_ bytes: Int) {
        outcome.filesReceived += 1
        outcome.bytesReceived += bytes
    }

    private func verified(_ entry: PatchEntry, _ column: SHA256Digest) async throws(SyncError) -> VerifiedManifest {
        let (manifestBytes, columnBytes, columnSize) = try store.wrapped { () throws(FileError) in
            (
                try store.bytes(of: entry.fingerprint.sha256, limit: Limits.manifest),
                try store.bytes(of: column, limit: Limits.signatureColumn),
                try store.files.identity(of: try store.place(of: column).path)?.size ?? 0
            )
        }
        do throws(TrustError) {
            return try await VerifiedManifest(
                from: manifestBytes,
                column: columnBytes,
                columnSize: columnSize,
                of: entry,
                app: list.list.app,
                keys: list.entryKeys
            )
        } catch {
            if let failure = manifestBytes.failure ?? columnBytes.failure { throw .file(failure) }
            throw .trust(error)
        }
    }

    func listed(_ patch: InstalledPatch) -> PatchEntry? {
        list.entries.first { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    private mutating func installedManifest(of patch: InstalledPatch) async throws(SyncError) -> AssetManifest {
        _ = try await receiveManifest(of: patch)
        let bytes = try store.wrapped { () throws(FileError) in
            try store.bytes(of: patch.fingerprint.sha256, limit: Limits.manifest)
        }
        do throws(FormatError) {
            return try AssetManifest(from: bytes, named: "\(patch.label) manifest")
        } catch {
            if let failure = bytes.failure { throw .file(failure) }
            throw .format(error)
        }
    }
}
