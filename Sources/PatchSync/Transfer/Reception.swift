import FileFacts
import PatchFetch
import PatchFormat
import PatchStore

/// What one of the tasks of a ``Reception`` has to tell.
enum ReceptionEvent: Sendable {
    case received(position: Int, Result<SealedPart, SyncError>, hasMoved: Bool)
    /// One of a pack's writers wrote something; it goes on unless it is done.
    case packWritten(bundle: Int, writer: Int, PackWriter.Written)
    /// Nothing more of a pack is read, and why.
    case packRead(bundle: Int, SyncError?)
    case committed(Result<[SHA256Digest: FileIdentity], SyncError>)

    var isCommit: Bool { if case .committed = self { true } else { false } }
}

/// Objects on their way into the store.
struct Reception {
    let requests: MissingObjects
    var batch: ObjectBatch
    /// Several requests may end while one batch is made durable, and each may fill another.
    var full: [ObjectBatch.Full] = []
    var isCommitting = false
    /// By digest.
    private(set) var failures: [SHA256Digest: SyncError] = [:]
    /// Why the whole sync ends.
    private(set) var error: SyncError?
    private var waiting: TransferQueue
    private var packServers = PackServers()
    /// By bundle.
    private var packs: [Int: RunningPack] = [:]
    private var receiving = 0
    private var results = 0

    init(of requests: MissingObjects, in store: DeviceStore) throws(FileError) {
        self.requests = requests
        waiting = TransferQueue(requests, begun: try store.objects.partialDownloads())
        batch = try ObjectBatch(in: store.objects)
    }

    /// Whether each object came, or failed.
    var hasAll: Bool { results >= requests.count }

    /// A request ended, with all that there is to say of so many objects.
    mutating func ended(results count: Int) {
        receiving -= 1
        results += count
    }

    mutating func fail(_ position: Int, _ error: SyncError) {
        failures[requests.fingerprint(at: position).sha256] = error
    }

    /// Nothing more is begun; what is under way ends.
    mutating func end(with error: SyncError) {
        self.error = self.error ?? error
        for pack in packs.values { pack.transfer.stop() }
    }

    mutating func start(in group: inout TaskGroup<ReceptionEvent>, into store: DeviceStore, by transfers: Transfers) {
        if !isCommitting, !full.isEmpty { commit(full.removeFirst(), in: &group, store) }
        // A disk that is slower than the line: nothing more comes before it has what is here.
        guard full.isEmpty else { return }
        for bundle in packs.keys { writeOn(bundle, in: &group) }
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

    /// - Returns: false when there is nothing to ask for.
    private mutating func receiveNext(in group: inout TaskGroup<ReceptionEvent>, _ transfers: Transfers) -> Bool {
        let sources = transfers.sources.inOrder
        switch waiting.next(packs: { packServers.first(of: sources, for: $0) != nil }) {
        case .object(let position):
            group.addTask { [requests] in
                let (result, hasMoved) = await transfers.receivePart(of: requests[position])
                return .received(position: position, result, hasMoved: hasMoved)
            }
        case .pack(let bundle, let positions):
            guard let source = packServers.first(of: sources, for: bundle) else { return false }
            let pack = requests.pack(of: bundle, for: positions)
            let transfer = PackTransfer(pack, of: requests, from: source, by: transfers)
            packs[bundle] = RunningPack(transfer)
            group.addTask { .packRead(bundle: bundle, await transfer.read()) }
            writeOn(bundle, in: &group)
        case nil: return false
        }
        return true
    }
}

/// Packs on their way.
extension Reception {
    private struct RunningPack {
        let transfer: PackTransfer
        /// Reader and writers that are not done.
        var atWork = 1 + PackTransfer.writers
        /// Writers that wait until the disk has what is here.
        var idle = Array(0..<PackTransfer.writers)
        var received: Set<Int> = []
        /// What is asked for by itself: because some of it is here, or because it was wrong.
        var alone: Set<Int> = []
        var error: SyncError?

        init(_ transfer: PackTransfer) {
            self.transfer = transfer
        }
    }

    /// So many objects of a pack may be wrong; with one more it is given up.
    static let mostWrong = 8

    private mutating func writeOn(_ bundle: Int, in group: inout TaskGroup<ReceptionEvent>) {
        guard let pack = packs[bundle] else { return }
        for writer in pack.idle {
            group.addTask { [writers = pack.transfer.writers] in
                .packWritten(bundle: bundle, writer: writer, await writers[writer].write())
            }
        }
        packs[bundle]?.idle = []
    }

    mutating func wrote(_ written: PackWriter.Written, by writer: Int, of bundle: Int) {
        guard var pack = packs[bundle] else { return }
        defer { packs[bundle] = pack }
        results += written.parts.count
        pack.received.formUnion(written.parts.map(\.position))
        pack.alone.formUnion(written.wrong.map(\.position))
        if let begun = written.begun { pack.alone.insert(begun) }
        pack.error = written.error ?? pack.error ?? written.wrong.first?.error
        if written.error != nil || pack.alone.count > Self.mostWrong { pack.transfer.stop() }
        if written.isDone { pack.atWork -= 1 } else { pack.idle.append(writer) }
    }

    mutating func read(_ bundle: Int, _ error: SyncError?) {
        guard var pack = packs[bundle] else { return }
        pack.atWork -= 1
        // Of what nobody takes the writers tell why.
        let isNotTaken = if case .fetch(.notTaken) = error { true } else { false }
        if !isNotTaken { pack.error = pack.error ?? error }
        packs[bundle] = pack
    }

    /// Once all of it is written: what did not come is asked for in another way.
    ///
    /// - Throws: what has nothing to do with the server that it came from.
    mutating func concludePack(of bundle: Int, from sources: Sources) throws(SyncError) {
        guard let pack = packs[bundle], pack.atWork == 0 else { return }
        packs[bundle] = nil
        receiving -= 1
        let rest = pack.transfer.pack.wanted.map(\.position).filter { !pack.received.contains($0) }
        guard let first = rest.first, self.error == nil else { return }
        let error = pack.error ?? .fetch(.short(pack.transfer.pack.path))
        if error.isOwn {
            fail(first, error)
            throw error
        }
        packServers.judge(pack.transfer, error, broughtSome: !pack.received.isEmpty, in: sources)
        waiting.putBack(rest, of: bundle, alone: pack.alone)
    }
}
