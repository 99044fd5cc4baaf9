import FileFacts
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// A pack that makes a bundle's signed manifest; its contents are still to be taken.
struct OpenPack {
    let pack: BasePack
    let base: BaseVersion
    /// In words, for errors.
    let name: String
    /// Of it, and of the signatures beside it.
    var bytes: Int
}

/// A new bundle by a pack from a version that is here.
///
/// Whatever does not come of it is asked for as it is without one.
extension Download {
    /// Brings the manifest of a new bundle: the one that is signed, or none.
    mutating func openPack(
        for wanted: SyncPlan.Wanted,
        hasManifest: Bool
    ) async throws(SyncError) -> OpenPack? {
        let patch = wanted.patch
        let route = BundleRoute(wanted, plan, in: store, hasManifest: hasManifest)
        guard case .pack(let bases) = route else { return nil }
        for candidate in bases {
            guard let base = BaseVersion(candidate, to: patch, in: store, &check) else { continue }
            let pack = BasePack(manifest: patch.fingerprint.sha256, base: candidate.fingerprint.sha256)
            let name = "\(patch.label) pack from \(candidate.version)"
            var delivery = PackDelivery(pack, from: base, named: name, of: patch.label, into: store, by: transfers)
            switch await delivery.run() {
            case .manifest(let bytes):
                let size = (try? store.objects.size(of: pack)) ?? 0
                let open = OpenPack(pack: pack, base: base, name: name, bytes: size)
                outcome.transfers.move(patch)
                guard hasManifest ? true : try put(bytes, as: patch.fingerprint, by: open, for: patch) else {
                    return nil
                }
                return open
            case .nowhere: continue
            case .refused(let error):
                transfers.report(.packRefused(patch.label, because: error))
                return nil
            case .ended(let error): throw error
            }
        }
        return nil
    }

    /// - Returns: false where the pack is given up.
    private mutating func put(
        _ bytes: [UInt8],
        as expected: Fingerprint,
        by open: OpenPack,
        for patch: InstalledPatch
    ) throws(SyncError) -> Bool {
        try removeDamaged(expected.sha256)
        do throws(StoreError) {
            try store.objects.put(bytes, as: expected)
            outcome.filesReceived += 1
            outcome.bytesReceived += bytes.count
            return true
        } catch {
            try giveUp(open, for: patch, because: SyncError(error, entry: open.name))
            return false
        }
    }

    /// The pack's file goes; what was verified stays.
    ///
    /// - Throws: errors with which nothing else can come either. A full disk may have room without the file.
    private func giveUp(_ open: OpenPack, for patch: InstalledPatch, because error: SyncError) throws(SyncError) {
        if case .fetch(.cancelled) = error { throw error }
        try? store.objects.remove(open.pack)
        if case .file(.noSpace) = error {} else if error.isOwn { throw error }
        transfers.report(.packRefused(patch.label, because: error))
    }

    /// Makes the signature column of the base's and of those of new statements, which come beside the pack.
    ///
    /// - Returns: whether it was made; where it was not, it is asked for as a whole.
    mutating func makeColumn(
        _ column: SHA256Digest,
        of patch: InstalledPatch,
        by pack: inout OpenPack?
    ) async throws(SyncError) -> Bool {
        guard let open = pack, let size = plan.columnSizes[column], size <= Limits.signatureColumn,
            let old = open.base.column(),
            let bytes = try? store.bytes(of: open.pack.manifest, limit: Limits.manifest),
            let new = try? PackManifest(bytes)
        else { return false }
        let base = open.base.manifest
        func made(of signatures: [UInt8]) throws(PackError) -> [UInt8] {
            try PackSignatures.column(from: base, column: old, to: new, signatures: signatures, digest: column)
        }
        // Where nothing was signed anew, nothing travels.
        if let made = try? made(of: []) { return try put(made, as: Fingerprint(of: made), by: open, for: patch) }
        for source in transfers.sources.inOrder {
            var request = FetchRequest(
                URLLayout.pack(open.pack, .signatures),
                limit: size,
                deadline: transfers.deadlines.document
            )
            request.isPlain = true
            let signatures: [UInt8]
            do throws(FetchError) { signatures = try await source.fetcher.document(request).bytes } catch .cancelled {
                throw .fetch(.cancelled)
            } catch { continue }
            transfers.sources.count(signatures.count)
            let whole: [UInt8]
            do throws(PackError) { whole = try made(of: signatures) } catch {
                let error = SyncError.pack(open.name, error)
                transfers.sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
                transfers.report(.packRefused(patch.label, because: error))
                continue
            }
            pack?.bytes += signatures.count
            return try put(whole, as: Fingerprint(of: whole), by: open, for: patch)
        }
        return false
    }

    /// Takes the missing contents out of a pack, for the verified manifest.
    ///
    /// - Returns: what is missing then.
    mutating func take(
        _ missing: [Int32],
        of manifest: AssetManifest,
        from open: OpenPack,
        for wanted: SyncPlan.Wanted
    ) throws(SyncError) -> [Int32] {
        let patch = wanted.patch
        let fingerprints = missing.map { manifest.assets[Int($0)].fingerprint }
        let use = PackUse(
            label: patch.label,
            base: open.base.patch.version,
            bytes: open.bytes,
            estimate: TransferChoice.estimate(
                (fingerprints.count, fingerprints.reduce(0) { $0 + $1.size }),
                of: manifest.assets.reduce(0) { $0 + $1.fingerprint.size },
                manifest: patch.fingerprint.size,
                column: signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } ?? 0 : 0
            )
        )
        for digest in fingerprints.map(\.sha256) where damaged.contains(digest) { try removeDamaged(digest) }
        let brought: Set<SHA256Digest>
        do throws(SyncError) {
            brought = try unpack(missing, of: manifest, from: open, patch.label)
        } catch {
            try giveUp(open, for: patch, because: error)
            var rest: [Int32] = []
            for row in missing where try !isIntact(manifest.assets[Int(row)].fingerprint) { rest.append(row) }
            return rest
        }
        try? store.objects.remove(open.pack)
        outcome.packs.append(use)
        transfers.report(.byPack(use))
        return missing.filter { !brought.contains(manifest.assets[Int($0)].fingerprint.sha256) }
    }

    private mutating func unpack(
        _ missing: [Int32],
        of manifest: AssetManifest,
        from open: OpenPack,
        _ label: Label
    ) throws(SyncError) -> Set<SHA256Digest> {
        guard !missing.isEmpty else { return [] }
        let store = store
        var contents = try store.wrapped { () throws(FileError) in
            try PackContents(missing, of: manifest, named: label.description, into: store.objects)
        }
        var failure: SyncError?
        do throws(SyncError) {
            _ = try open.base.read(open.pack, named: open.name) { result throws(SyncError) in
                try contents.take(result)
                if !contents.hasAll, case .content = result { atCommitPoint(.duringObjects) }
                return !contents.hasAll
            }
        } catch { failure = error }
        // Also when it ends here: what is right stays.
        do throws(FileError) { try contents.finish() } catch { failure = failure ?? .file(error) }
        check.record(contents.made)
        for (digest, size) in contents.brought where contents.made[digest] != nil {
            damaged.remove(digest)
            outcome.filesReceived += 1
            outcome.bytesReceived += size
        }
        if let failure { throw failure }
        return Set(contents.brought.keys)
    }
}
