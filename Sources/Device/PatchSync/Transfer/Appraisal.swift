import PatchChoice
import PatchDelta
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Estimates the cost of a plan's transfers before any of them begins.
///
/// The disk is only read. Servers are asked for the sizes of files. The only file downloaded is the index of a bundle's packs.
struct Appraisal {
    /// The maximum number of objects of a bundle whose size is requested.
    ///
    /// If more are missing, their size is estimated.
    static let mostAsked = 16

    let store: DeviceStore
    let transfers: Transfers
    let plan: SyncPlan
    let list: VerifiedList
    private let signatures: EntrySignatures
    private var check: IntegrityCheck
    /// Objects that are included in the cost of an earlier patch.
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

    /// - Returns: the cost, or nil if no file of the patch is missing or wrong.
    mutating func cost(of wanted: SyncPlan.Wanted) async throws(SyncError) -> TransferCost? {
        let patch = wanted.patch
        let faults = try check.faults(of: patch)
        switch patch.kind {
        case .script:
            guard !faults.isEmpty else { return nil }
            guard try !isAvailable(patch.fingerprint) else { return .nothing }
            let size = try await size(of: ExpectedFile(patch.fingerprint), at: patch.url)
            return TransferCost(way: .file, size: size)
        case .bundle:
            // All files of a new version may be stored without its folder, because its signatures may never have been checked.
            guard faults.isEmpty, try wanted.isNew ? isStored(patch) : true else { return try await bundle(wanted) }
            guard try needsColumn(patch) else { return nil }
            return TransferCost(way: .singleObjects, size: try await columnSize(of: patch))
        }
    }

    private mutating func bundle(_ wanted: SyncPlan.Wanted) async throws(SyncError) -> TransferCost {
        let patch = wanted.patch
        let hasManifest = try isAvailable(patch.fingerprint)
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
            facts.all = .about(WireSize.estimate(ofDocument: patch.fingerprint.size) + column) + facts.whole
        }
        return TransferCost(of: facts)
    }
}

/// Computes the disk space that a download needs.
extension Appraisal {
    /// The bytes that a new version needs, or nil if that is unknown.
    ///
    /// Until the manifest is stored, the size of a bundle's plain pack represents the sum of its files. The sizes are a
    /// server's hint. If a version of the bundle is already stored, the files to download are unknown, and only the documents
    /// are counted.
    mutating func room(for wanted: SyncPlan.Wanted) async throws(SyncError) -> Int? {
        let patch = wanted.patch
        guard patch.kind == .bundle else {
            return try isAvailable(patch.fingerprint) ? 0 : try store.bytesNeeded(by: [patch.fingerprint])
        }
        guard try !isAvailable(patch.fingerprint) else {
            guard let manifest = try check.manifest(of: patch) else { return nil }
            var missing: [Fingerprint] = []
            for asset in manifest.assets where try !isAvailable(asset.fingerprint) { missing.append(asset.fingerprint) }
            return try store.bytesNeeded(by: missing)
        }
        let documents = patch.fingerprint.size + (patch.column.flatMap { plan.columnSizes[$0] } ?? 0)
        guard wanted.current == nil,
            let whole = try await ask(
                URLLayout.fullPack(of: patch.fingerprint.sha256),
                limit: Limits.object,
                isPlain: true
            )
        else { return documents }
        return documents + whole
    }
}

/// Checks of the stored files.
extension Appraisal {
    private func isStored(_ patch: InstalledPatch) throws(SyncError) -> Bool {
        try store.wrapped { () throws(FileError) in
            try store.files.status(of: store.bundle(patch.fingerprint.sha256))?.kind == .directory
        }
    }

    private func isListed(_ patch: InstalledPatch) -> Bool {
        list.entries.contains { $0.fingerprint.sha256 == patch.fingerprint.sha256 && $0.patchID == patch.patchID }
    }

    private mutating func needsColumn(_ patch: InstalledPatch) throws(SyncError) -> Bool {
        guard signatures == .required, isListed(patch), let column = patch.column else { return false }
        return try !isAvailable(column, expected: nil)
    }

    private mutating func isAvailable(_ fingerprint: Fingerprint) throws(SyncError) -> Bool {
        try isAvailable(fingerprint.sha256, expected: fingerprint)
    }

    private mutating func isAvailable(_ digest: SHA256Digest, expected: Fingerprint?) throws(SyncError) -> Bool {
        let (place, condition) = try check.condition(of: digest, expected: expected)
        if case .intact = condition { return true }
        return place.isEmbedded ? false : try check.isEmbedded(digest, expected: expected)
    }

    /// The route of the missing objects and its cost, by the stored manifest.
    private mutating func objects(
        of patch: InstalledPatch,
        _ whole: WireSize
    ) async throws(SyncError) -> (FilesRoute, WireSize)? {
        guard let manifest = try check.manifest(of: patch) else { return nil }
        let facts = try store.wrapped { () throws(FileError) in
            try store.objects.packFacts(of: patch.fingerprint.sha256)
        }
        var (rows, begun) = ([Int](), [Fingerprint]())
        var rest = 0
        for (row, asset) in manifest.assets.enumerated() {
            let object = asset.fingerprint
            guard try !isAvailable(object), counted.insert(object.sha256).inserted else { continue }
            let received = try received(of: object.sha256)
            if received == 0 || facts.map({ $0.kept > 0 && received < object.size }) ?? false {
                rows.append(row)
            } else {
                begun.append(object)
                rest += object.size - min(received, object.size)
            }
        }
        let weights = PackWeights(manifest.assets)
        let costs = TransferCosts(missing: rows, of: weights, knowing: facts)
        let route = FilesRoute(missing: rows, of: weights, knowing: facts, hasServer: true)
        switch route {
        case .fullPack:
            // The pack is only read up to the last missing object.
            let isWhole = rows.count == manifest.assets.count && facts == nil
            if isWhole { return (route, whole) }
            let size = facts == nil ? whole.bytes.map { .about($0) } ?? .unknown : WireSize.about(costs.bytes)
            return (route, rest == 0 ? size : size + .about(rest))
        case .packRanges: return (route, .about(costs.bytes + rest))
        case .objects:
            guard rows.count + begun.count <= Self.mostAsked else { return (route, .about(costs.bytes + rest)) }
            var size = WireSize.nothing
            for object in rows.map({ manifest.assets[$0].fingerprint }) + begun {
                let path = URLLayout.object(object.sha256)
                size = try await size + self.size(of: ExpectedFile(object), at: path)
            }
            return (route, size)
        }
    }
}

/// Questions to the servers.
extension Appraisal {
    /// The pack that a sync would use, found by the same routes.
    ///
    /// It leads from the first version that is completely stored and for which a server has a pack. Otherwise the index of
    /// packs decides.
    private mutating func pack(
        for wanted: SyncPlan.Wanted,
        _ index: (PackIndex, bytes: Int)?,
        hasManifest: Bool,
        needsColumn: Bool
    ) async throws(SyncError) -> BundleFacts.Pack? {
        let patch = wanted.patch
        var version = NewVersion(wanted, plan, in: store, hasManifest: hasManifest)
        var held = HeldVersions()
        while true {
            switch BundleRoute(version) {
            case .pack(let digest):
                guard let base = version.hold(digest, for: patch, in: &held, store, &check) else { continue }
                switch try await pack(from: base, digest, to: patch, index?.0, needsColumn: needsColumn) {
                case .priced(let facts): return facts
                case .nowhere: version.mark(digest, .withoutPack)
                case .tooLarge: return nil
                }
            case .index:
                guard let index else { return nil }
                held.others = store.kept(of: patch, in: list.list.channel, besides: version.indexBases.map(\.patch))
                let column = signatures == .required ? patch.column.flatMap { plan.columnSizes[$0] } : nil
                version.packs = IndexedPacks(index.0, to: patch, from: held, column: column, in: store)
            case .listed(let pack):
                let steps = [(BasePack(manifest: patch.fingerprint.sha256, base: pack.base), pack)]
                guard let base = held.base(pack.base, for: patch, in: store, &check) else { return nil }
                return try await listed(steps, from: base, to: patch, index: index?.bytes, needsColumn: needsColumn)
            case .chain(let first, let row):
                let steps = [
                    (BasePack(manifest: row.pack.base, base: first.base), first),
                    (BasePack(manifest: patch.fingerprint.sha256, base: row.pack.base), row.pack),
                ]
                guard let base = held.base(first.base, for: patch, in: store, &check) else { return nil }
                return try await listed(
                    steps,
                    from: base,
                    to: patch,
                    index: index?.bytes,
                    needsColumn: needsColumn,
                    canMakeColumn: row.column != nil
                )
            case .documents: return nil
            }
        }
    }

    private enum PackPrice {
        case priced(BundleFacts.Pack)
        case nowhere
        case tooLarge
    }

    private mutating func pack(
        from base: BaseVersion,
        _ manifest: SHA256Digest,
        to patch: InstalledPatch,
        _ index: PackIndex?,
        needsColumn: Bool
    ) async throws(SyncError) -> PackPrice {
        let pack = BasePack(manifest: patch.fingerprint.sha256, base: manifest)
        let row = index?.from.first { $0.pack.base == pack.base }?.pack
        let path = URLLayout.pack(pack, .pack)
        let isAvailable = try received(of: pack).isWhole
        var announced = row?.size
        if announced == nil, !isAvailable { announced = try await ask(path, limit: base.limits.pack, isPlain: true) }
        guard isAvailable || announced != nil else { return .nowhere }
        guard isAvailable || announced.map({ $0 <= base.limits.pack }) == true else { return .tooLarge }
        var facts = BundleFacts.Pack(base: base.version, size: try size(of: pack, announced), signatures: .nothing)
        guard needsColumn else { return .priced(facts) }
        if base.column() == nil {
            facts.signatures = try await columnSize(of: patch)
        } else if isAvailable, store.objects.signatures(of: pack, limit: Limits.signatureColumn) != nil {
            return .priced(facts)
        } else if !isAvailable, let both = try await signedSize(of: pack, base) {
            facts.size = try size(of: pack, both)
        } else if let row {
            facts.signatures = .exactly(row.signatures ?? 0)
        } else {
            let path = URLLayout.pack(pack, .signatures)
            facts.signatures = .exactly(try await ask(path, limit: Limits.signatureColumn, isPlain: true) ?? 0)
        }
        return .priced(facts)
    }

    /// The size of the pack with its signatures in front, or nil if they are only available separately.
    private func signedSize(of pack: BasePack, _ base: BaseVersion) async throws(SyncError) -> Int? {
        let limit = base.limits.pack + BasePack.frontCount + Limits.signatureColumn
        return try await ask(URLLayout.pack(pack, .signed), limit: limit, isPlain: true)
    }

    /// The packs that an index lists.
    ///
    /// - Parameter canMakeColumn: Whether the column can be built from the packs' signatures.
    private mutating func listed(
        _ steps: [(pack: BasePack, row: PackIndex.Pack)],
        from base: BaseVersion,
        to patch: InstalledPatch,
        index: Int?,
        needsColumn: Bool,
        canMakeColumn: Bool = true
    ) async throws(SyncError) -> BundleFacts.Pack {
        // The sync downloads the index as well.
        var facts = BundleFacts.Pack(
            base: base.version,
            count: steps.count,
            size: .exactly(index ?? 0),
            signatures: .nothing
        )
        for (pack, row) in steps { facts.size = try facts.size + size(of: pack, row.size) }
        guard needsColumn else { return facts }
        if canMakeColumn, base.column() != nil {
            facts.signatures = .exactly(steps.reduce(0) { $0 + ($1.row.signatures ?? 0) })
        } else {
            facts.signatures = try await columnSize(of: patch)
        }
        return facts
    }

    private func received(of pack: BasePack) throws(SyncError) -> (bytes: Int, isWhole: Bool) {
        try store.wrapped { () throws(FileError) in try store.objects.received(of: pack) }
    }

    /// The size of the missing part of a pack.
    private func size(of pack: BasePack, _ announced: Int?) throws(SyncError) -> WireSize {
        let here = try received(of: pack)
        return here.isWhole ? .nothing : announced.map { WireSize.exactly($0).without(here.bytes) } ?? .unknown
    }

    private func index(of patch: InstalledPatch) async throws(SyncError) -> (PackIndex, bytes: Int)? {
        let path = URLLayout.packIndex(of: patch.fingerprint.sha256)
        let request = FetchRequest(path, limit: Limits.packIndex, deadline: transfers.deadlines.document)
        for source in transfers.sources.inOrder {
            do throws(FetchError) {
                let bytes = try await source.fetcher.document(request).bytes
                if let index = try? PackIndex(bytes, of: patch.fingerprint.sha256) { return (index, bytes.count) }
            } catch .cancelled { throw .fetch(.cancelled) } catch {}
        }
        return nil
    }

    private func wholeSize(
        of patch: InstalledPatch,
        _ index: (PackIndex, bytes: Int)?
    ) async throws(SyncError) -> WireSize {
        if let size = index?.0.whole { return .exactly(size) }
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

    /// The size of a missing file: as announced by its server, else estimated from its signed size.
    private mutating func size(of expected: ExpectedFile, at path: String) async throws(SyncError) -> WireSize {
        guard let asked = try await ask(path, limit: expected.size, expected) else {
            return .about(WireSize.estimate(ofDocument: expected.size))
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

    /// The size from the first server that announces it, or nil if none does.
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
