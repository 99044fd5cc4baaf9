import Linux
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A pack that produces a bundle's signed manifest.
///
/// ``TakePack`` reads the contents from it.
struct OpenPack {
    let step: PackStep
    /// The pack that produced the version which ``step`` leads on from, or nil if that version is stored.
    var first: PackStep?
    /// The bytes of the packs and of the signatures sent with them.
    var bytes: Int
}

/// A pack, and the version that it is applied to.
struct PackStep {
    let pack: BasePack
    var base: BaseVersion
    /// The name of the pack in errors.
    let name: String
    /// The maximum bytes of the signatures sent with it, by the index, or nil if no index was read.
    var signatures: Int?
    /// The column of the intermediate version that it produces, by the unsigned index.
    var resultColumn: PackIndex.Column?
}

extension OpenPack {
    /// Stores a document that the pack produced.
    ///
    /// - Returns: false if the pack is given up.
    func put(
        _ bytes: [UInt8],
        as expected: Fingerprint,
        for patch: InstalledPatch,
        _ download: inout Download
    ) throws(SyncError) -> Bool {
        try download.removeDamaged(expected.sha256)
        do throws(StoreError) {
            try download.store.objects.put(bytes, as: expected)
            download.outcome.filesReceived += 1
            download.outcome.bytesReceived += bytes.count
            return true
        } catch {
            try giveUp(for: patch, because: SyncError(error, entry: step.name), download.store, download.transfers)
            return false
        }
    }

    /// Removes the files of its packs.
    ///
    /// Verified objects stay.
    func discard(from store: DeviceStore) {
        for step in [step, first].compactMap(\.self) { try? store.objects.remove(step.pack) }
        if first != nil { try? store.removeIntermediate() }
    }

    /// - Throws: Errors that end every route. After a full disk there may be enough space without the pack.
    func giveUp(
        for patch: InstalledPatch,
        because error: SyncError,
        _ store: DeviceStore,
        _ transfers: Transfers
    ) throws(SyncError) {
        if case .fetch(.cancelled) = error { throw error }
        discard(from: store)
        if case .file(.noSpace) = error {} else if error.isOwn { throw error }
        transfers.report(.packRefused(patch.label, because: error))
    }
}

/// Obtains the signed manifest of a new bundle from a pack that is based on a stored version, or from two packs in a row.
///
/// The index and the intermediate version are not signed. If the result is not the signed manifest, no pack is used, and the bundle
/// is downloaded without packs.
struct DownloadPack {
    let wanted: SyncPlan.Wanted
    /// Whether the signed manifest is stored.
    ///
    /// An interrupted pack is then continued.
    let hasManifest: Bool

    private var patch: InstalledPatch { wanted.patch }

    /// - Returns: nil if no pack leads to the bundle.
    func run(_ download: inout Download) async throws(SyncError) -> OpenPack? {
        let (store, plan) = (download.store, download.plan)
        var version = NewVersion(wanted, plan, in: store, hasManifest: hasManifest)
        if hasManifest, version.candidates.isEmpty {
            // Two complete packs in a row may be stored: the device was stopped after they produced the manifest.
            version.hasPack = try store.wrapped { () throws(FileError) in
                try store.objects.hasPack(to: patch.fingerprint.sha256)
            }
        }
        var held = HeldVersions()
        // If the manifest is stored, the cost without a pack is known.
        let most = hasManifest && version.nextBase != nil ? try costWithoutPack(&download) : nil
        while true {
            switch BundleRoute(version) {
            case .pack(let digest):
                guard let base = version.hold(digest, for: patch, in: &held, store, &download.check) else { continue }
                let step = step(from: base, digest)
                switch try await deliver(step, upTo: most, &download) {
                case .manifest(let bytes): return try open(step, bytes, &download)
                case .nowhere: version.mark(digest, .withoutPack)
                case .refused: return nil
                }
            case .index:
                // After a restart the packs from these versions are not requested again.
                for digest in version.indexBases.filter({ $0.state == .unknown }).map(\.patch.fingerprint.sha256)
                where version.hold(digest, for: patch, in: &held, store, &download.check) != nil {
                    version.mark(digest, .withoutPack)
                }
                guard !held.tried.isEmpty, let index = try await packIndex(download.transfers) else { return nil }
                let channel = download.list.list.channel
                held.others = store.kept(of: patch, in: channel, besides: version.indexBases.map(\.patch))
                let column = download.signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } : nil
                version.packs = IndexedPacks(index, to: patch, from: held, column: column, in: store)
            case .listed(let pack):
                guard let base = held.base(pack.base, for: patch, in: store, &download.check) else { return nil }
                return try await openListed(pack, from: base, &download)
            case .chain(let first, let row):
                guard let base = held.base(first.base, for: patch, in: store, &download.check) else { return nil }
                return try await openChain(first, through: row, from: base, &download)
            case .documents: return nil
            }
        }
    }

    /// The cost of the missing files without a pack, by the stored manifest.
    private func costWithoutPack(_ download: inout Download) throws(SyncError) -> Int? {
        guard let manifest = try download.check.manifest(of: patch) else { return nil }
        var missing: [Int] = []
        for (row, asset) in manifest.assets.enumerated() where try !download.isIntact(asset.fingerprint) {
            missing.append(row)
        }
        let costs = TransferCosts(missing: missing, of: PackWeights(manifest.assets), knowing: nil)
        return costs.bytes + missing.count * WireSize.request
    }

    private enum Delivery {
        case manifest([UInt8])
        case nowhere
        /// The reason is reported.
        case refused
    }

    private func step(from base: BaseVersion, _ manifest: SHA256Digest) -> PackStep {
        PackStep(
            pack: BasePack(manifest: patch.fingerprint.sha256, base: manifest),
            base: base,
            name: "\(patch.label) pack from \(base.version)"
        )
    }

    /// - Parameter most: The largest size that is worth it, or nil for the pack's own limit.
    private func deliver(
        _ step: PackStep,
        upTo most: Int? = nil,
        _ download: inout Download
    ) async throws(SyncError) -> Delivery {
        var delivery = PackDelivery(
            step.pack,
            from: step.base,
            named: step.name,
            of: patch.label,
            signatures: try signatures(with: step, &download),
            into: download.store,
            by: download.transfers
        )
        delivery.most = most
        switch await delivery.run() {
        case .manifest(let bytes):
            download.outcome.transfers.move(patch)
            return .manifest(bytes)
        case .nowhere: return .nowhere
        case .refused(let error):
            download.transfers.report(.packRefused(patch.label, because: error))
            return .refused
        case .ended(let error): throw error
        }
    }

    /// The maximum bytes of signatures to request with a pack, or nil if the column is stored or cannot be built from them.
    private func signatures(with step: PackStep, _ download: inout Download) throws(SyncError) -> Int? {
        guard download.signatures == .required, step.resultColumn == nil,
            step.pack.manifest == patch.fingerprint.sha256,
            let column = patch.column, let size = download.plan.columnSizes[column], size <= Limits.signatureColumn,
            try !download.isIntact(column, expected: nil, unrecorded: true), step.base.column() != nil
        else { return nil }
        return min(step.signatures ?? size, size)
    }

    /// - Returns: nil if the pack is given up.
    private func open(
        _ step: PackStep,
        _ manifest: [UInt8],
        after first: PackStep? = nil,
        _ download: inout Download
    ) throws(SyncError) -> OpenPack? {
        let sizes = [step, first].compactMap(\.self).map { (try? download.store.objects.size(of: $0.pack)) ?? 0 }
        let open = OpenPack(step: step, first: first, bytes: sizes.reduce(0, +))
        if hasManifest { return open }
        return try open.put(manifest, as: patch.fingerprint, for: patch, &download) ? open : nil
    }

    /// Opens a pack that an index lists.
    private func openListed(
        _ pack: PackIndex.Pack,
        from base: BaseVersion,
        _ download: inout Download
    ) async throws(SyncError) -> OpenPack? {
        var step = step(from: base.expecting(pack: pack.size), pack.base)
        step.signatures = pack.signatures
        guard let bytes = try await named(step, &download) else { return nil }
        return try open(step, bytes, &download)
    }

    /// Opens two packs in a row.
    ///
    /// The intermediate version is not signed. Only the second manifest is.
    private func openChain(
        _ pack: PackIndex.Pack,
        through row: PackIndex.Row,
        from base: BaseVersion,
        _ download: inout Download
    ) async throws(SyncError) -> OpenPack? {
        let store = download.store
        let first = PackStep(
            pack: BasePack(manifest: row.pack.base, base: pack.base),
            base: base.expecting(pack: pack.size, manifest: row.manifest),
            name: "\(patch.label) first pack of two, from \(base.version)",
            signatures: pack.signatures,
            resultColumn: row.column
        )
        guard let bytes = try await named(first, &download) else { return nil }
        let between: BaseVersion
        do throws(SyncError) { between = try intermediate(bytes, by: first, in: store) } catch {
            if error.isOwn, !error.isNoSpace { throw error }
            try? store.objects.remove(first.pack)
            try? store.removeIntermediate()
            download.transfers.report(.packRefused(patch.label, because: error))
            return nil
        }
        var last = step(from: between.expecting(pack: row.pack.size), row.pack.base)
        last.signatures = row.pack.signatures
        guard let manifest = try await named(last, &download) else {
            try? store.removeIntermediate()
            return nil
        }
        return try open(last, manifest, after: first, &download)
    }

    /// The version that the first pack produces, with its contents in a separate folder.
    private func intermediate(
        _ manifest: [UInt8],
        by step: PackStep,
        in store: DeviceStore
    ) throws(SyncError) -> BaseVersion {
        var contents = try store.wrapped { () throws(FileError) in
            try IntermediateContents(in: store, fromBaseOf: step.base.contents)
        }
        let version = try step.base.through(manifest, in: contents, to: patch, named: "\(step.name): manifest")
        _ = try step.base.read(step.pack, named: step.name) { result throws(SyncError) in
            try contents.take(result, named: step.name)
            return true
        }
        return version
    }

    /// The manifest that a listed pack produces.
    ///
    /// A missing pack is reported.
    private func named(_ step: PackStep, _ download: inout Download) async throws(SyncError) -> [UInt8]? {
        switch try await deliver(step, &download) {
        case .manifest(let bytes): return bytes
        case .refused: return nil
        case .nowhere:
            let error = SyncError.fetch(.notFound(URLLayout.pack(step.pack, .pack)))
            download.transfers.report(.packRefused(patch.label, because: error))
            return nil
        }
    }

    /// The index of the first server that has one.
    ///
    /// An invalid index is reported.
    private func packIndex(_ transfers: Transfers) async throws(SyncError) -> PackIndex? {
        let path = URLLayout.packIndex(of: patch.fingerprint.sha256)
        let request = FetchRequest(path, limit: Limits.packIndex, deadline: transfers.deadlines.document)
        for source in transfers.sources.inOrder {
            let bytes: [UInt8]
            do throws(FetchError) { bytes = try await source.fetcher.document(request).bytes } catch .cancelled {
                throw .fetch(.cancelled)
            } catch { continue }
            transfers.sources.count(bytes.count)
            // Some hosts answer a request for a missing file with their start page.
            if bytes.first == UInt8(ascii: "<") { continue }
            do throws(FormatError) { return try PackIndex(bytes, of: patch.fingerprint.sha256) } catch {
                transfers.report(.packRefused(patch.label, because: .format(error)))
                return nil
            }
        }
        return nil
    }
}
