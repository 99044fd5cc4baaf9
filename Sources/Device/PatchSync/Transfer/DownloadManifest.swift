import Linux
import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Obtains a bundle's manifest from this device, from a pack, or from a server.
///
/// All signatures of a listed manifest are checked, unless the device checks only the signature of the list entry. An installed
/// manifest that is no longer listed, or that another channel listed, was checked before: it has the same digest. Manifest and
/// signatures are first stored as objects and are read piece by piece from there.
struct DownloadManifest {
    let wanted: SyncPlan.Wanted

    /// - Returns: the manifest, and the pack that produced it. ``TakePack`` reads the contents from that pack.
    func run(_ download: inout Download) async throws(SyncError) -> (AssetManifest, OpenPack?) {
        let patch = wanted.patch
        guard let entry = download.listed(patch), let column = patch.column else {
            guard !wanted.isNew else {
                throw .trust(.noTarget(role: download.list.list.channel.text, target: "\(patch.label) manifest.sigs"))
            }
            return (try await installedManifest(&download), nil)
        }
        let hasManifest = try download.isIntact(patch.fingerprint, unrecorded: true)
        let needsColumn = download.signatures == .required
        let hasColumn = try needsColumn ? download.isIntact(column, expected: nil, unrecorded: true) : false
        let opening = DownloadPack(wanted: wanted, hasManifest: hasManifest)
        var pack = wanted.isNew ? try await opening.run(&download) : nil
        do throws(SyncError) {
            if !hasManifest, pack == nil {
                try await receiveManifest(&download)
                // A pack that a network failure interrupted continues now.
                let continuing = DownloadPack(wanted: wanted, hasManifest: true)
                if wanted.isNew { pack = try await continuing.run(&download) }
            }
            guard needsColumn else { return (try verified(entry, download.store, download.list), pack) }
            if !hasColumn { try await DownloadColumn(patch: patch, column: column).run(by: &pack, &download) }
            let (store, list) = (download.store, download.list)
            let keys = hasColumn && !wanted.isNew ? keysOfInstalled(store, list) : list.entryKeys
            let verified = try await verified(entry, column, by: keys, store, list)
            download.outcome.checkedSignatures += verified.checkedRows
            download.store.recordChecked(verified.column, of: verified.fingerprint.sha256)
            return (verified.manifest, pack)
        } catch {
            // A rejected document is removed. One that was already stored may belong to the active version and stays.
            if case .trust = error {
                if !hasManifest { try? download.store.objects.remove(patch.fingerprint.sha256) }
                if needsColumn, !hasColumn { try? download.store.objects.remove(column) }
                if let pack { pack.discard(from: download.store) }
            }
            throw error
        }
    }

    private func receiveManifest(_ download: inout Download) async throws(SyncError) {
        let patch = wanted.patch
        let expected = ExpectedFile(patch.fingerprint)
        try await download.receive(ObjectRequest(expected, path: patch.url, entry: "\(patch.label) manifest"))
    }

    /// The keys of the list and of installed selections.
    ///
    /// An installed manifest may be signed by a key that is no longer listed.
    private func keysOfInstalled(_ store: DeviceStore, _ list: VerifiedList) -> EntryKeys {
        let kept = (try? store.state(of: list.list.channel))?.machine.kept ?? []
        return kept.reduce(list.entryKeys) { $0.merged(with: $1.entryKeys) }
    }

    /// Checks the list entry alone, whose signature covers the manifest's digests.
    private func verified(
        _ entry: PatchEntry,
        _ store: DeviceStore,
        _ list: VerifiedList
    ) throws(SyncError) -> AssetManifest {
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
        _ store: DeviceStore,
        _ list: VerifiedList
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
                beside: wanted.current.flatMap { vouched($0, in: store) }
            )
        } catch {
            if let failure = manifestBytes.failure ?? columnBytes.failure { throw .file(failure) }
            throw .trust(error)
        }
    }

    /// The rows of an installed manifest.
    ///
    /// Unchanged rows need no check if all signatures of the installed manifest were checked on this device.
    private func vouched(_ patch: InstalledPatch, in store: DeviceStore) -> VerifiedRows? {
        let digest = patch.fingerprint.sha256
        guard patch.kind == .bundle, let column = patch.column, store.hasChecked(column, of: digest),
            let bytes = try? store.bytes(of: digest, limit: Limits.manifest),
            let place = try? store.place(of: column).path,
            let signatures = try? store.files.read(place, limit: Limits.signatureColumn)
        else { return nil }
        return VerifiedRows(bytes, sha256: digest, column: signatures, columnDigest: column)
    }

    private func installedManifest(_ download: inout Download) async throws(SyncError) -> AssetManifest {
        let (store, patch) = (download.store, wanted.patch)
        if try !download.isIntact(patch.fingerprint, unrecorded: true) { try await receiveManifest(&download) }
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
