import FileFacts
import PatchChoice
import PatchFetch
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
        guard try !isIntact(patch.fingerprint, unrecorded: true) else { return false }
        let expected = ExpectedFile(patch.fingerprint)
        try await receive(ObjectRequest(expected, path: patch.url, entry: "\(patch.label) manifest"))
        return true
    }

    /// - Returns: whether it was not there.
    private mutating func receiveColumn(
        _ column: SHA256Digest,
        of patch: InstalledPatch
    ) async throws(SyncError) -> Bool {
        guard try !isIntact(column, expected: nil, unrecorded: true) else { return false }
        let target = TargetPath.signatureColumn(
            channel: list.list.channel,
            patchID: patch.patchID,
            version: patch.version
        )
        let path = URLLayout.target(target, sha256: column)
        guard let size = plan.columnSizes[column] else {
            throw .trust(.noTarget(role: list.list.channel.text, target: target.text))
        }
        guard size <= Limits.signatureColumn else { throw .fetch(.tooLarge(path, limit: Limits.signatureColumn)) }
        let expected = ExpectedFile(size: size, sha256: column)
        try await receive(ObjectRequest(expected, path: path, entry: "\(patch.label) manifest.sigs"))
        return true
    }

    private mutating func receive(_ request: ObjectRequest) async throws(SyncError) {
        try removeDamaged(request.expected.sha256)
        switch await transfers.receive(request) {
        case nil:
            outcome.filesReceived += 1
            outcome.bytesReceived += request.expected.size
        case .object(let entry, let field): throw .trust(.entry(EntryFault(entry: entry, rule: .differs(field))))
        case let error?: throw error
        }
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
