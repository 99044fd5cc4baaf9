import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust

/// What the transfers of a plan cost, before any of them begins.
///
/// It reads the disk and changes nothing there; servers are asked for the sizes of files, and for no file but the index of a
/// bundle's packs.
struct Appraisal {
    /// So many objects of a bundle are asked for their size at most; of more it is estimated.
    static let mostAsked = 16

    let store: DeviceStore
    let transfers: Transfers
    let plan: SyncPlan
    let list: VerifiedList
    private let signatures: EntrySignatures
    private var check: IntegrityCheck
    /// Objects that are in the price of a patch before.
    private var counted: Set<SHA256Digest> = []
    private var begun: Set<SHA256Digest>?

    init(
        of plan: SyncPlan,
        _ list: VerifiedList,
        checking signatures: EntrySignatures,
        in store: DeviceStore,
        by transfers: Transfers
    ) {
        (self.plan, self.list, self.store, self.transfers) = (plan, list, store, transfers)
        self.signatures = signatures
        check = IntegrityCheck(store: store, records: store.records())
    }

    /// - Returns: nil for the cost where nothing of the patch is missing or wrong.
    mutating func cost(of wanted: SyncPlan.Wanted) async throws(SyncError) -> TransferCost? {
        let patch = wanted.patch
        let faults = try check.faults(of: patch)
        switch patch.kind {
        case .script:
            guard !faults.isEmpty else { return nil }
            guard try !isHere(patch.fingerprint) else { return .nothing }
            let size = try await size(of: ExpectedFile(patch.fingerprint), at: patch.url)
            return TransferCost(way: .file, size: size)
        case .bundle:
            // All files of a new one may be here without its folder: its signatures may never have been checked.
            guard faults.isEmpty, try wanted.isNew ? stands(patch) : true else { return try await bundle(wanted) }
            guard try needsColumn(patch) else { return nil }
            return TransferCost(way: .singleObjects, size: try await columnSize(of: patch))
        }
    }

    private mutating func bundle(_ wanted: SyncPlan.Wanted) async throws(SyncError) -> TransferCost {
        let patch = wanted.patch
        let hasManifest = try isHere(patch.fingerprint)
        let needsColumn = try needsColumn(patch)
        let index = wanted.isNew ? try await index(of: patch) : nil
        var facts = BundleFacts()
        if wanted.isNew {
            facts.pack = try await pack(for: wanted, index, hasManifest: hasManifest, needsColumn: needsColumn)
            facts.whole = try await wholeSize(of: patch, index)
        }
        if facts.pack == nil {
            if !hasManifest { facts.manifest = try await size(of: ExpectedFile(patch.fingerprint), at: patch.url) }
            if needsColumn { facts.column = try await columnSize(of: patch) }
            if hasManifest { facts.objects = try await objects(of: patch, facts.whole) }
        }
        if wanted.isNew {
            let column = signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } ?? 0 : 0
            facts.all = .about(TransferChoice.estimate(ofDocument: patch.fingerprint.size) + column) + facts.whole
        }
        return TransferCost(of: facts)
    }
}

/// What is here.
extension Appraisal {
    private func stands(_ patch: InstalledPatch) throws(SyncError) -> Bool {
        try store.wrapped { () throws(FileError) in
            try store.files.status(of: store.bundle(patch.fingerprint.sha256))?.kind == .directory
        }
    }

    private func isListed(_ patch: InstalledPatch) -> Bool {
        list.entries.contains { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    private mutating func needsColumn(_ patch: InstalledPatch) throws(SyncError) -> Bool {
        guard signatures == .required, isListed(patch), let column = patch.column else { return false }
        return try !isHere(column, expected: nil)
    }

    private mutating func isHere(_ fingerprint: Fingerprint) throws(SyncError) -> Bool {
        try isHere(fingerprint.sha256, expected: fingerprint)
    }

    private mutating func isHere(_ digest: SHA256Digest, expected: Fingerprint?) throws(SyncError) -> Bool {
        let (place, condition) = try check.condition(of: digest, expected: expected)
        if case .intact = condition { return true }
        return place.isEmbedded ? false : try check.isEmbedded(digest, expected: expected)
    }

    /// How the objects that are missing come, by the manifest that is here.
    private mutating func objects(
        of patch: InstalledPatch,
        _ whole: WireSize
    ) async throws(SyncError) -> (TransferChoice, WireSize)? {
        guard let manifest = try check.manifest(of: patch) else { return nil }
        var missing: [Fingerprint] = []
        var (bytes, all) = (0, 0)
        for asset in manifest.assets {
            all += asset.fingerprint.size
            guard try !isHere(asset.fingerprint), counted.insert(asset.fingerprint.sha256).inserted else { continue }
            missing.append(asset.fingerprint)
            bytes += asset.fingerprint.size
        }
        let choice = TransferChoice(missing: missing.count, bytes: bytes, of: all)
        switch choice {
        case .wholePack:
            // No more of it is read than what is missing needs.
            let size = missing.count == manifest.assets.count ? whole : whole.bytes.map { .about($0) } ?? .unknown
            return (choice, size)
        case .singleObjects where missing.count > Self.mostAsked:
            return (choice, .about(TransferChoice.estimate(ofDocument: bytes)))
        case .singleObjects:
            var size = WireSize.nothing
            for object in missing {
                let path = URLLayout.object(object.sha256)
                size = try await size + self.size(of: ExpectedFile(object), at: path)
            }
            return (choice, size)
        }
    }
}

/// What the servers say.
extension Appraisal {
    /// By the route that the sync itself takes: the first version that is whole here and from which a server has a pack.
    private mutating func pack(
        for wanted: SyncPlan.Wanted,
        _ index: PackIndex?,
        hasManifest: Bool,
        needsColumn: Bool
    ) async throws(SyncError) -> BundleFacts.Pack? {
        let patch = wanted.patch
        let route = BundleRoute(wanted, plan, in: store, hasManifest: hasManifest)
        guard case .pack(let bases) = route else { return nil }
        for candidate in bases {
            guard let base = BaseVersion(candidate, to: patch, in: store, &check) else { continue }
            let pack = BasePack(manifest: patch.fingerprint.sha256, base: candidate.fingerprint.sha256)
            let row = index?.from.first { $0.pack.base == pack.base }?.pack
            let here = try store.wrapped { () throws(FileError) in try store.objects.received(of: pack) }
            let size: WireSize
            if here.isWhole {
                size = .nothing
            } else if let row {
                size = WireSize.exactly(row.size).without(here.bytes)
            } else if let asked = try await ask(URLLayout.pack(pack, .pack), limit: base.limits.pack, isPlain: true) {
                size = WireSize.exactly(asked).without(here.bytes)
            } else {
                continue
            }
            guard size.bytes.map({ $0 <= base.limits.pack }) ?? false else { return nil }
            guard needsColumn else {
                return BundleFacts.Pack(base: candidate.version, size: size, signatures: .nothing)
            }
            var signatures = WireSize.nothing
            if base.column() == nil {
                signatures = try await columnSize(of: patch)
            } else if let row {
                signatures = .exactly(row.signatures ?? 0)
            } else {
                let path = URLLayout.pack(pack, .signatures)
                signatures = .exactly(try await ask(path, limit: Limits.signatureColumn, isPlain: true) ?? 0)
            }
            return BundleFacts.Pack(base: candidate.version, size: size, signatures: signatures)
        }
        return nil
    }

    private func index(of patch: InstalledPatch) async throws(SyncError) -> PackIndex? {
        let path = URLLayout.packIndex(of: patch.fingerprint.sha256)
        let request = FetchRequest(path, limit: Limits.packIndex, deadline: transfers.deadlines.document)
        for source in transfers.sources.inOrder {
            do throws(FetchError) {
                let bytes = try await source.fetcher.document(request).bytes
                if let index = try? PackIndex(bytes, of: patch.fingerprint.sha256) { return index }
            } catch .cancelled { throw .fetch(.cancelled) } catch {}
        }
        return nil
    }

    private func wholeSize(of patch: InstalledPatch, _ index: PackIndex?) async throws(SyncError) -> WireSize {
        if let size = index?.whole { return .exactly(size) }
        let size = try await ask(URLLayout.fullPack(of: patch.fingerprint.sha256), limit: Limits.object)
        return size.map { .exactly($0) } ?? .unknown
    }

    private mutating func columnSize(of patch: InstalledPatch) async throws(SyncError) -> WireSize {
        guard let column = patch.column, let size = plan.columnSizes[column] else { return .unknown }
        let channel = list.list.channel
        let target = TargetPath.signatureColumn(channel: channel, patchID: patch.patchID, version: patch.version)
        return try await self.size(
            of: ExpectedFile(size: size, sha256: column),
            at: URLLayout.target(target, sha256: column)
        )
    }

    /// Of a file whose signed size is known: as its server has it, else about what is left of one.
    private mutating func size(of expected: ExpectedFile, at path: String) async throws(SyncError) -> WireSize {
        guard let asked = try await ask(path, limit: expected.size, expected) else {
            return .about(TransferChoice.estimate(ofDocument: expected.size))
        }
        return WireSize.exactly(asked).without(try received(of: expected.sha256))
    }

    private mutating func received(of digest: SHA256Digest) throws(SyncError) -> Int {
        if begun == nil {
            begun = try store.wrapped { () throws(FileError) in try store.objects.partialDownloads() }
        }
        guard begun?.contains(digest) == true else { return 0 }
        return try store.wrapped { () throws(FileError) in try store.objects.received(of: digest) }
    }

    /// The first server that says it; nil where none does.
    private func ask(
        _ path: String,
        limit: Int,
        _ expected: ExpectedFile? = nil,
        isPlain: Bool = false
    ) async throws(SyncError) -> Int? {
        var request = FetchRequest(path, limit: limit, deadline: transfers.deadlines.document, expected: expected)
        request.isPlain = isPlain
        for source in transfers.sources.inOrder {
            do throws(FetchError) {
                if let found = try await source.fetcher.size(request) { return found.bytes }
            } catch .cancelled { throw .fetch(.cancelled) } catch {}
        }
        return nil
    }
}
