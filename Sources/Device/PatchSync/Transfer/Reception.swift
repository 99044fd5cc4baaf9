import Linux
import PatchFetch
import PatchFormat
import PatchStore

/// An event of one of the tasks of a ``Reception``.
enum ReceptionEvent: Sendable {
    case received(position: Int, Result<SealedPart, SyncError>, hasMoved: Bool)
    /// One of a pack's writers has a result. It continues unless it has ended.
    case packWritten(Int, writer: Int, PackWriter.Written)
    /// The reading of a pack has ended, with the reason.
    case packRead(Int, PackTransfer.End)
    case committed(Result<[SHA256Digest: FileIdentity], SyncError>)

    var isCommit: Bool { if case .committed = self { true } else { false } }
}

/// The reception of objects into the store.
struct Reception {
    let requests: MissingObjects
    var batch: ObjectBatch
    /// Several requests may end while one batch is made durable, and each may fill another batch.
    var full: [ObjectBatch.Full] = []
    var isCommitting = false
    /// The errors, by digest.
    private(set) var failures: [SHA256Digest: SyncError] = [:]
    /// The error that ends the whole sync.
    private(set) var error: SyncError?
    private var waiting: TransferQueue
    private var packServers = PackServers()
    /// The running packs by number, because there may be several of a bundle, each for a part of it.
    private var packs: [Int: RunningPack] = [:]
    private var packsBegun = 0
    /// The facts of each bundle's pack.
    private var facts: [Int: PackFacts] = [:]
    private let objects: ObjectStore
    private var receiving = 0
    private var results = 0

    init(of requests: MissingObjects, in objects: ObjectStore) throws(FileError) {
        (self.requests, self.objects) = (requests, objects)
        var begun = try objects.partialDownloads()
        for block in requests.blocks where block.isBundle {
            guard let known = try objects.packFacts(of: requests.manifest(of: block.task)) else { continue }
            facts[block.task] = known
            guard known.kept > 0, !begun.isEmpty else { continue }
            // A killed process leaves the object at which a pack stopped. The stored form contains the same bytes.
            for expected in block.positions.lazy.map({ requests.fingerprint(at: $0) })
            where begun.contains(expected.sha256) {
                if try objects.received(of: expected.sha256) < expected.size { begun.remove(expected.sha256) }
            }
        }
        waiting = TransferQueue(requests, begun: begun)
        batch = try ObjectBatch(in: objects)
    }

    /// Whether each object was received or failed.
    var hasAll: Bool { results >= requests.count }

    /// Records the end of a request and the results of so many objects.
    mutating func ended(results count: Int) {
        receiving -= 1
        results += count
    }

    mutating func fail(_ position: Int, _ error: SyncError) {
        failures[requests.fingerprint(at: position).sha256] = error
    }

    /// Begins no further request.
    ///
    /// Running ones end.
    mutating func end(with error: SyncError) {
        self.error = self.error ?? error
        for pack in packs.values { pack.transfer.stop() }
    }

    mutating func start(in group: inout TaskGroup<ReceptionEvent>, into store: DeviceStore, by transfers: Transfers) {
        if !isCommitting, !full.isEmpty { commit(full.removeFirst(), in: &group, store) }
        // If the disk is slower than the network, no request is begun before the received objects are durable.
        guard full.isEmpty else { return }
        for pack in packs.keys { writeOn(pack, in: &group) }
        while error == nil, receiving < Transfers.parallel, receiveNext(in: &group, transfers) { receiving += 1 }
    }

    private mutating func commit(
        _ full: ObjectBatch.Full,
        in group: inout TaskGroup<ReceptionEvent>,
        _ store: DeviceStore
    ) {
        isCommitting = true
        group.addTask { [batch] in
            .committed(
                Result { () throws(SyncError) in
                    try store.wrapped { () throws(FileError) in try batch.commit(full) }
                }
            )
        }
    }

    /// - Returns: false if there is no object to request.
    private mutating func receiveNext(in group: inout TaskGroup<ReceptionEvent>, _ transfers: Transfers) -> Bool {
        let sources = transfers.sources.inOrder
        switch waiting.next(packs: { packServers.first(of: sources, for: $0) != nil }, knowing: { facts[$0] }) {
        case .object(let position):
            group.addTask { [requests] in
                let (result, hasMoved) = await transfers.receivePart(of: requests[position])
                return .received(position: position, result, hasMoved: hasMoved)
            }
        case .pack(let bundle, let positions, let range):
            guard let source = packServers.first(of: sources, for: bundle) else { return false }
            let pack = requests.pack(of: bundle, for: positions, range: range)
            let transfer = PackTransfer(pack, of: requests, from: source, by: transfers)
            packsBegun += 1
            packs[packsBegun] = RunningPack(transfer)
            group.addTask { [packsBegun] in .packRead(packsBegun, await transfer.read()) }
            writeOn(packsBegun, in: &group)
        case nil: return false
        }
        return true
    }
}

/// The reception of packs.
extension Reception {
    private struct RunningPack {
        let transfer: PackTransfer
        /// The number of readers and writers that have not ended.
        var atWork = 1 + PackTransfer.writers
        /// Writers that wait until their last result is durable.
        var idle = Array(0..<PackTransfer.writers)
        var received: Set<Int> = []
        /// Objects to request alone, because some bytes of them are stored or because they were wrong.
        var alone: Set<Int> = []
        var error: SyncError?
        var end = PackTransfer.End()

        init(_ transfer: PackTransfer) {
            self.transfer = transfer
        }
    }

    /// The maximum number of wrong objects in a pack.
    ///
    /// With one more the pack is given up.
    static let mostWrong = 8

    private mutating func writeOn(_ number: Int, in group: inout TaskGroup<ReceptionEvent>) {
        guard let pack = packs[number] else { return }
        for writer in pack.idle {
            group.addTask { [writers = pack.transfer.writers] in
                .packWritten(number, writer: writer, await writers[writer].write())
            }
        }
        packs[number]?.idle = []
    }

    mutating func wrote(_ written: PackWriter.Written, by writer: Int, of number: Int) {
        guard var pack = packs[number] else { return }
        defer { packs[number] = pack }
        results += written.parts.count
        pack.received.formUnion(written.parts.map(\.position))
        pack.alone.formUnion(written.wrong.map(\.position))
        if let begun = written.begun { pack.alone.insert(begun) }
        pack.error = written.error ?? pack.error ?? written.wrong.first?.error
        if written.error != nil || pack.alone.count > Self.mostWrong { pack.transfer.stop() }
        if written.isDone { pack.atWork -= 1 } else { pack.idle.append(writer) }
    }

    mutating func read(_ number: Int, _ end: PackTransfer.End) {
        guard var pack = packs[number] else { return }
        pack.atWork -= 1
        pack.end = end
        // If the writers rejected the data, they report the reason.
        let isNotTaken = if case .fetch(.notTaken) = end.error { true } else { false }
        if !isNotTaken { pack.error = pack.error ?? end.error }
        packs[number] = pack
    }

    /// Handles the end of a pack after all of it is written: missing objects are requested in another way, or the pack continues.
    ///
    /// - Throws: Errors that are independent of the server.
    mutating func concludePack(_ number: Int, from sources: Sources) throws(SyncError) {
        guard let pack = packs[number], pack.atWork == 0 else { return }
        packs[number] = nil
        receiving -= 1
        let (transfer, bundle) = (pack.transfer, pack.transfer.pack.bundle)
        let rest = transfer.pack.wanted.map(\.position).filter { !pack.received.contains($0) }
        guard let first = rest.first, self.error == nil else { return }
        let error = pack.error ?? .fetch(.short(transfer.pack.path))
        if error.isOwn {
            fail(first, error)
            throw error
        }
        do throws(FileError) {
            // Only an interrupted pack is continued.
            if error.fetchError?.isNetwork != true { try objects.removePack(of: transfer.pack.manifest) }
            facts[bundle] = try objects.packFacts(of: transfer.pack.manifest)
        } catch { throw .file(error) }
        if pack.end.lacksRanges {
            packServers.doesNotContinue(transfer)
        } else if !pack.end.usedKept || error.fetchError?.isNetwork == true {
            // Bytes of an earlier request may be the cause of other errors: then no server is blamed, and the pack begins again.
            let hasMoved = pack.end.hasMoved || !pack.received.isEmpty || !pack.alone.isEmpty
            packServers.judge(
                transfer,
                error,
                madeProgress: hasMoved,
                continues: hasMoved && (facts[bundle] != nil || transfer.pack.range != nil),
                in: sources
            )
        }
        waiting.requeue(rest, of: bundle, alone: pack.alone)
    }
}

/// The servers to ask for packs.
///
/// Each is asked for each bundle until it turns out to have no pack, or a wrong one.
struct PackServers {
    private struct Try: Hashable {
        let bundle: Int
        let server: String
    }

    private var passedOver: Set<String> = []
    private var tried: Set<Try> = []

    /// The server to ask now for a bundle's pack, or nil if its objects must be downloaded one by one.
    func first(of sources: [Source], for bundle: Int) -> Source? {
        sources.first { source in
            !passedOver.contains(source.name) && !tried.contains(Try(bundle: bundle, server: source.name))
        }
    }

    /// Excludes the server for the pack of this bundle.
    mutating func doesNotContinue(_ transfer: PackTransfer) {
        tried.insert(Try(bundle: transfer.pack.bundle, server: transfer.source.name))
    }

    /// Judges a server after an incomplete pack.
    ///
    /// A server that sent nothing of it is not asked for packs again in this sync. It may still have the single objects.
    ///
    /// - Parameter continues: Whether the next try requests no byte that arrived in this one.
    mutating func judge(
        _ transfer: PackTransfer,
        _ error: SyncError,
        madeProgress: Bool,
        continues: Bool,
        in sources: Sources
    ) {
        guard !error.isOwn else { return }
        let source = transfer.source
        if !continues || error.fetchError?.isNetwork != true { doesNotContinue(transfer) }
        switch error {
        case .fetch(let fetch) where fetch.isWorthRetrying:
            sources.moveToEnd(source)
            if !madeProgress { passedOver.insert(source.name) }
        case .fetch(let fetch) where !fetch.isServerFault: passedOver.insert(source.name)
        default:
            passedOver.insert(source.name)
            sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
    }
}
