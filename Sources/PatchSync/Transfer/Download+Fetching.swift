import FileFacts
import PatchFetch
import PatchFormat
import PatchStore

extension Download {
    /// ``Transfers/parallel`` requests at a time, while what came before them is made durable.
    ///
    /// One that fails stops no other; what has come stays for the next sync.
    ///
    /// - Returns: by digest, why an object did not come.
    mutating func fetch(_ requests: MissingObjects) async throws(SyncError) -> [SHA256Digest: SyncError] {
        if !damaged.isEmpty {
            for digest in requests.indices.lazy.map({ requests.fingerprint(at: $0).sha256 })
            where damaged.contains(digest) {
                try removeDamaged(digest)
            }
        }
        let (store, transfers, atCommitPoint) = (store, transfers, atCommitPoint)
        var reception = try store.wrapped { () throws(FileError) in try Reception(of: requests, in: store) }
        await withTaskGroup(of: ReceptionEvent.self) { group in
            reception.start(in: &group, into: store, by: transfers)
            while let progress = await group.next() {
                do throws(SyncError) { try take(progress, of: &reception) } catch {
                    if error.endsSync { reception.end(with: error) }
                }
                if !progress.isCommit, !reception.hasAll { atCommitPoint(.duringObjects) }
                reception.start(in: &group, into: store, by: transfers)
            }
        }
        // Also when the sync ends here: what has come stays for the next one.
        check.record(try store.wrapped { () throws(FileError) in try reception.batch.finish() })
        if let error = reception.error { throw error }
        return reception.failures
    }

    private mutating func take(_ progress: ReceptionEvent, of reception: inout Reception) throws(SyncError) {
        switch progress {
        case .committed(let made):
            reception.isCommitting = false
            check.record(try made.get())
        case .received(let position, let result, let hasMoved):
            reception.ended(results: 1)
            if hasMoved || result.isSuccess { move(position...position, of: reception) }
            if case .failure(let error) = result { reception.fail(position, error) }
            keep(try result.get(), of: &reception)
        case .receivedRun(let positions, let run, let source):
            reception.ended(results: run.parts.count)
            let rest = positions.dropFirst(run.parts.count)
            move(positions.prefix(run.parts.count + (run.hasMoved ? 1 : 0)), of: reception)
            for part in run.parts { keep(part, of: &reception) }
            reception.packs.judge(source, run, in: transfers.sources)
            guard let error = run.error, let first = rest.first else { return }
            guard error.isOwn else { return reception.waiting.putBack(rest) }
            reception.fail(first, error)
            throw error
        }
    }

    /// Bytes of these objects came that no later sync asks for.
    private mutating func move(_ positions: some Sequence<Int>, of reception: Reception) {
        for position in positions { reception.requests.patches(at: position).forEach { outcome.transfers.move($0) } }
    }

    private mutating func keep(_ part: SealedPart, of reception: inout Reception) {
        outcome.filesReceived += 1
        outcome.bytesReceived += part.size
        if let full = reception.batch.add(part) { reception.full.append(full) }
    }
}

/// What one of the tasks of a ``Reception`` has to tell.
private enum ReceptionEvent: Sendable {
    case received(position: Int, Result<SealedPart, SyncError>, hasMoved: Bool)
    case receivedRun(Range<Int>, PackOutcome, from: Source)
    case committed(Result<[SHA256Digest: FileIdentity], SyncError>)

    var isCommit: Bool { if case .committed = self { true } else { false } }
}

/// Objects on their way into the store.
private struct Reception {
    let requests: MissingObjects
    var waiting: TransferQueue
    var packs = PackServers()
    var batch: ObjectBatch
    /// Several requests may end while one batch is made durable, and each may fill another.
    var full: [ObjectBatch.Full] = []
    var isCommitting = false
    /// By digest.
    private(set) var failures: [SHA256Digest: SyncError] = [:]
    /// Why the whole sync ends.
    private(set) var error: SyncError?
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
    }

    mutating func start(in group: inout TaskGroup<ReceptionEvent>, into store: DeviceStore, by transfers: Transfers) {
        if !isCommitting, !full.isEmpty { commit(full.removeFirst(), in: &group, store) }
        // A disk that is slower than the line: nothing more comes before it has what is here.
        while error == nil, full.isEmpty, receiving < Transfers.parallel, receiveNext(in: &group, transfers) {
            receiving += 1
        }
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
        let source = packs.first(of: transfers.sources.inOrder)
        switch waiting.next(packs: source != nil) {
        case .object(let position):
            group.addTask { [requests] in
                let (result, hasMoved) = await transfers.receivePart(of: requests[position])
                return .received(position: position, result, hasMoved: hasMoved)
            }
        case .run(let positions):
            guard let source else { return false }
            let run = requests.run(positions)
            group.addTask {
                .receivedRun(positions, await transfers.receive(run, from: source), from: source)
            }
        case nil: return false
        }
        return true
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
