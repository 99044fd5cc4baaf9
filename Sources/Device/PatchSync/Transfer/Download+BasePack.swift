import Linux
import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// A pack that makes a bundle's signed manifest; its contents are still to be taken.
struct OpenPack {
    let step: PackStep
    /// The pack that made the version which ``step`` leads on from; nil where that one is here.
    var first: PackStep?
    /// Of the packs, and of the signatures beside them.
    var bytes: Int
}

/// A pack, and the version that it is applied to.
struct PackStep {
    let pack: BasePack
    var base: BaseVersion
    /// In words, for errors.
    let name: String
    /// The most bytes of signatures beside it, as an index says; nil where none was asked.
    var signatures: Int?
    /// The column of the version that it makes, where nobody signed for that.
    var leadsTo: PackIndex.Column?
}

/// A new bundle by a pack from a version that is here.
///
/// Whatever does not come of it is asked for as it is without one.
extension Download {
    /// Obtains the signed manifest of a new bundle by a pack, or by two.
    ///
    /// - Returns: nil if no pack leads to the bundle.
    mutating func openPack(
        for wanted: SyncPlan.Wanted,
        hasManifest: Bool
    ) async throws(SyncError) -> OpenPack? {
        let patch = wanted.patch
        var version = NewVersion(wanted, plan, in: store, hasManifest: hasManifest)
        if hasManifest, version.candidates.isEmpty {
            // Two packs in a row may be here whole: the device was stopped after they made the manifest.
            version.hasPack = try store.wrapped { () throws(FileError) in
                try store.objects.hasPack(to: patch.fingerprint.sha256)
            }
        }
        var held = HeldVersions()
        // With the manifest, the cost without a pack is known.
        let most = hasManifest && version.nextBase != nil ? try costWithoutPack(of: patch) : nil
        while true {
            switch Route(.version(version)) {
            case .pack(let digest, listed: nil):
                guard let base = version.hold(digest, for: patch, in: &held, store, &check) else { continue }
                let step = step(to: patch, from: base, digest)
                switch try await deliver(step, of: patch, upTo: most) {
                case .manifest(let bytes): return try open(step, bytes, of: patch, hasManifest: hasManifest)
                case .nowhere: version.mark(digest, .withoutPack)
                case .refused: return nil
                }
            case .index:
                // After a restart the packs from these versions are not requested again.
                for digest in version.indexBases.filter({ $0.state == .unknown }).map(\.patch.fingerprint.sha256)
                where version.hold(digest, for: patch, in: &held, store, &check) != nil {
                    version.mark(digest, .withoutPack)
                }
                guard !held.tried.isEmpty, let index = try await packIndex(of: patch) else { return nil }
                held.others = store.kept(of: patch, in: list.list.channel, besides: version.indexBases.map(\.patch))
                let column = signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } : nil
                version.packs = IndexedPacks(index, to: patch, from: held, column: column, in: store)
            case .pack(let digest, let pack?):
                guard let base = held.base(digest, for: patch, in: store, &check) else { return nil }
                return try await openListed(pack, from: base, for: patch, hasManifest: hasManifest)
            case .chain(let first, let row):
                guard let base = held.base(first.base, for: patch, in: store, &check) else { return nil }
                return try await openChain(first, through: row, from: base, for: patch, hasManifest: hasManifest)
            default: return nil
            }
        }
    }

    /// The cost of the missing files without a pack, by the manifest that is here.
    private mutating func costWithoutPack(of patch: InstalledPatch) throws(SyncError) -> Int? {
        guard let manifest = try check.manifest(of: patch) else { return nil }
        var missing: [Int] = []
        for (row, asset) in manifest.assets.enumerated() where try !isIntact(asset.fingerprint) { missing.append(row) }
        let costs = TransferCosts(missing: missing, of: PackWeights(manifest.assets), knowing: nil)
        return costs.bytes + missing.count * WireSize.request
    }

    enum Delivery {
        case manifest([UInt8])
        case nowhere
        /// It was told why.
        case refused
    }

    func step(to patch: InstalledPatch, from base: BaseVersion, _ manifest: SHA256Digest) -> PackStep {
        PackStep(
            pack: BasePack(manifest: patch.fingerprint.sha256, base: manifest),
            base: base,
            name: "\(patch.label) pack from \(base.version)"
        )
    }

    /// - Parameter most: more bytes are not worth it; nil for no limit but the pack's own.
    mutating func deliver(
        _ step: PackStep,
        of patch: InstalledPatch,
        upTo most: Int? = nil
    ) async throws(SyncError) -> Delivery {
        var delivery = PackDelivery(
            step.pack,
            from: step.base,
            named: step.name,
            of: patch.label,
            signatures: try signatures(with: step, of: patch),
            into: store,
            by: transfers
        )
        delivery.most = most
        switch await delivery.run() {
        case .manifest(let bytes):
            outcome.transfers.move(patch)
            return .manifest(bytes)
        case .nowhere: return .nowhere
        case .refused(let error):
            transfers.report(.packRefused(patch.label, because: error))
            return .refused
        case .ended(let error): throw error
        }
    }

    /// The most bytes of signatures that come with a pack; nil where the column is here, or cannot be made of them.
    private mutating func signatures(with step: PackStep, of patch: InstalledPatch) throws(SyncError) -> Int? {
        guard signatures == .required, step.leadsTo == nil, step.pack.manifest == patch.fingerprint.sha256,
            let column = patch.column, let size = plan.columnSizes[column], size <= Limits.signatureColumn,
            try !isIntact(column, expected: nil, unrecorded: true), step.base.column() != nil
        else { return nil }
        return min(step.signatures ?? size, size)
    }

    /// - Returns: nil where the pack is given up.
    mutating func open(
        _ step: PackStep,
        _ manifest: [UInt8],
        of patch: InstalledPatch,
        hasManifest: Bool = false,
        after first: PackStep? = nil
    ) throws(SyncError) -> OpenPack? {
        let sizes = [step, first].compactMap(\.self).map { (try? store.objects.size(of: $0.pack)) ?? 0 }
        let open = OpenPack(step: step, first: first, bytes: sizes.reduce(0, +))
        guard hasManifest ? true : try put(manifest, as: patch.fingerprint, by: open, for: patch) else { return nil }
        return open
    }

    /// - Returns: false where the pack is given up.
    mutating func put(
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
            try giveUp(open, for: patch, because: SyncError(error, entry: open.step.name))
            return false
        }
    }

    /// The files of its packs go; what was verified stays.
    func discard(_ open: OpenPack) {
        for step in [open.step, open.first].compactMap(\.self) { try? store.objects.remove(step.pack) }
        if open.first != nil { try? store.removeIntermediate() }
    }

    /// - Throws: errors with which nothing else can come either. A full disk may have room without the file.
    private func giveUp(_ open: OpenPack, for patch: InstalledPatch, because error: SyncError) throws(SyncError) {
        if case .fetch(.cancelled) = error { throw error }
        discard(open)
        if case .file(.noSpace) = error {} else if error.isOwn { throw error }
        transfers.report(.packRefused(patch.label, because: error))
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
        let column = signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } ?? 0 : 0
        let costs = TransferCosts(missing: missing.map(Int.init), of: PackWeights(manifest.assets), knowing: nil)
        let use = PackUse(
            label: patch.label,
            base: (open.first ?? open.step).base.version,
            through: open.first.map { _ in open.step.base.version },
            bytes: open.bytes,
            estimate: WireSize.estimate(ofDocument: patch.fingerprint.size) + costs.bytes + column
        )
        for digest in fingerprints.map(\.sha256) where damaged.contains(digest) { try removeDamaged(digest) }
        let brought: Set<SHA256Digest>
        do throws(SyncError) {
            brought = try unpack(missing, of: manifest, from: open.step, patch.label)
        } catch {
            try giveUp(open, for: patch, because: error)
            var rest: [Int32] = []
            for row in missing where try !isIntact(manifest.assets[Int(row)].fingerprint) { rest.append(row) }
            return rest
        }
        discard(open)
        outcome.packs.append(use)
        transfers.report(.byPack(use))
        return missing.filter { !brought.contains(manifest.assets[Int($0)].fingerprint.sha256) }
    }

    private mutating func unpack(
        _ missing: [Int32],
        of manifest: AssetManifest,
        from step: PackStep,
        _ label: Label
    ) throws(SyncError) -> Set<SHA256Digest> {
        guard !missing.isEmpty else { return [] }
        let store = store
        var contents = try store.wrapped { () throws(FileError) in
            try PackContents(missing, of: manifest, named: label.description, into: store.objects)
        }
        var failure: SyncError?
        do throws(SyncError) {
            _ = try step.base.read(step.pack, named: step.name) { result throws(SyncError) in
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
