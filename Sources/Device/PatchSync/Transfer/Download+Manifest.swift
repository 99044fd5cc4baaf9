import Linux
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

extension Download {
    /// A bundle's manifest, from where it lies on this device, else from the server.
    ///
    /// Every signature of a listed one is checked, unless this device goes by that of the list entry alone. One that is
    /// installed and not listed any more, or by another channel, was checked then: it is the same by its digest. Both
    /// documents become objects first and are read from there: neither is ever held as a whole.
    ///
    /// - Returns: also the pack that brought them, of which the contents are still to be taken.
    mutating func manifest(of wanted: SyncPlan.Wanted) async throws(SyncError) -> (AssetManifest, OpenPack?) {
        let patch = wanted.patch
        guard let entry = listed(patch), let column = patch.column else {
            guard !wanted.isNew else {
                throw .trust(.noTarget(role: list.list.channel.text, target: "\(patch.label) manifest.sigs"))
            }
            return (try await installedManifest(of: patch), nil)
        }
        let hasManifest = try isIntact(patch.fingerprint, unrecorded: true)
        let needsColumn = signatures == .required
        let hasColumn = try needsColumn ? isIntact(column, expected: nil, unrecorded: true) : false
        var pack = wanted.isNew ? try await openPack(for: wanted, hasManifest: hasManifest) : nil
        do throws(SyncError) {
            if !hasManifest, pack == nil {
                try await receiveManifest(of: patch)
                // The network broke a pack off, and is back: the pack continues.
                if wanted.isNew { pack = try await openPack(for: wanted, hasManifest: true) }
            }
            if needsColumn, !hasColumn, try await !makeColumn(column, of: patch, by: &pack) {
                try await receiveColumn(column, of: patch)
            }
            guard needsColumn else { return (try verified(entry), pack) }
            let keys = hasColumn && !wanted.isNew ? keysOfInstalled : list.entryKeys
            let verified = try await verified(entry, column, by: keys, beside: wanted.current)
            outcome.checkedSignatures += verified.checkedRows
            store.recordChecked(verified.column, of: verified.fingerprint.sha256)
            return (verified.manifest, pack)
        } catch {
            // What is refused leaves nothing behind; what was there already may be what runs.
            if case .trust = error {
                if !hasManifest { try? store.objects.remove(patch.fingerprint.sha256) }
                if needsColumn, !hasColumn { try? store.objects.remove(column) }
                if let pack { discard(pack) }
            }
            throw error
        }
    }

    private mutating func receiveManifest(of patch: InstalledPatch) async throws(SyncError) {
        let expected = ExpectedFile(patch.fingerprint)
        try await receive(ObjectRequest(expected, path: patch.url, entry: "\(patch.label) manifest"))
    }

    private mutating func receiveColumn(
        _ column: SHA256Digest,
        of patch: InstalledPatch
    ) async throws(SyncError) {
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

    /// What is installed may have been signed by a key that the list does not name any more.
    private var keysOfInstalled: EntryKeys {
        let kept = (try? store.state(of: list.list.channel))?.machine.kept ?? []
        return kept.reduce(list.entryKeys) { $0.merged(with: $1.entryKeys) }
    }

    /// By the list entry alone, whose signature covers the manifest's digests.
    private func verified(_ entry: PatchEntry) throws(SyncError) -> AssetManifest {
        let bytes = try store.wrapped { () throws(FileError) in
            try store.bytes(of: entry.fingerprint.sha256, limit: Limits.manifest)
        }
        do throws(TrustError) {
            return try AddressedManifest(from: bytes, of: entry, app: list.list.app).manifest
        } catch {
            if let failure = bytes.failure { throw .file(failure) }
            throw .trust(error)
        }
    }

    private func verified(
        _ entry: PatchEntry,
        _ column: SHA256Digest,
        by keys: EntryKeys,
        beside current: InstalledPatch?
    ) async throws(SyncError) -> VerifiedManifest {
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
                keys: keys,
                beside: current.flatMap(vouched)
            )
        } catch {
            if let failure = manifestBytes.failure ?? columnBytes.failure { throw .file(failure) }
            throw .trust(error)
        }
    }

    /// What is installed vouches for rows that did not change, where all of its own were checked here.
    private func vouched(_ patch: InstalledPatch) -> VouchedRows? {
        let digest = patch.fingerprint.sha256
        guard patch.kind == .bundle, let column = patch.column, store.hasChecked(column, of: digest),
            let bytes = try? store.bytes(of: digest, limit: Limits.manifest),
            let place = try? store.place(of: column).path,
            let signatures = try? store.files.read(place, limit: Limits.signatureColumn)
        else { return nil }
        return VouchedRows(bytes, sha256: digest, column: signatures, columnDigest: column)
    }

    func listed(_ patch: InstalledPatch) -> PatchEntry? {
        list.entries.first { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    private mutating func installedManifest(of patch: InstalledPatch) async throws(SyncError) -> AssetManifest {
        if try !isIntact(patch.fingerprint, unrecorded: true) { try await receiveManifest(of: patch) }
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
