import PatchFetch
import PatchFormat
import PatchStore

/// Neighbours of a bundle that are asked for at once, as a part of its pack.
struct PackRun: Sendable {
    /// Below `/APP/`.
    let path: String
    /// Of the pack.
    let bytes: Range<Int>
    /// In the order in which they come.
    let requests: [ObjectRequest]
}

/// What became of a run.
struct PackOutcome: Sendable {
    /// Of the first of its objects, each whole and compared with its entry.
    fileprivate(set) var parts: [SealedPart] = []
    /// Whether bytes of the next one came too, and stay.
    fileprivate(set) var hasMoved = false
    /// Why it ended before its last object.
    fileprivate(set) var error: SyncError?
}

extension Transfers {
    /// One try with one server; whatever is missing then is for others to fetch.
    func receive(_ run: PackRun, from source: Source) async -> PackOutcome {
        if Task.isCancelled { return PackOutcome(error: .fetch(.cancelled)) }
        var receiver = RunReceiver(run.requests, by: self)
        var error: SyncError?
        var storeError: SyncError?
        let request = FetchRequest(run.path, part: run.bytes, deadline: deadlines.object(of: run.bytes.count))
        do throws(FetchError) {
            try await source.fetcher.fetch(request) { part throws(FetchError) in
                guard case .bytes(let chunk) = part else { return }
                do throws(SyncError) { try receiver.append(chunk) } catch {
                    storeError = error
                    throw .notTaken(run.path, reason: "\(error)")
                }
            }
        } catch let failure { error = storeError ?? .fetch(failure) }
        return receiver.finish(error, at: run.path)
    }
}

/// Cuts a part of a pack into its objects.
private struct RunReceiver: ~Copyable {
    private let requests: [ObjectRequest]
    private let transfers: Transfers
    private var current: ObjectReceiver?
    private var outcome = PackOutcome()

    init(_ requests: [ObjectRequest], by transfers: Transfers) {
        self.requests = requests
        self.transfers = transfers
        outcome.parts.reserveCapacity(requests.count)
    }

    /// Takes the next bytes of the part, which are at most those of its objects.
    mutating func append(_ chunk: [UInt8]) throws(SyncError) {
        var rest = chunk[...]
        while !rest.isEmpty, outcome.parts.count < requests.count {
            let request = requests[outcome.parts.count]
            do throws(StoreError) {
                try take(&rest, of: request)
            } catch { throw SyncError(error, entry: request.entry) }
        }
        transfers.report(.received(bytes: chunk.count))
    }

    private mutating func take(_ rest: inout ArraySlice<UInt8>, of request: ObjectRequest) throws(StoreError) {
        if current == nil { current = try begin(request.expected) }
        guard var receiver = current.take() else { return }
        let piece = rest.prefix(request.expected.size - receiver.received)
        try receiver.append(Array(piece))
        rest = rest.dropFirst(piece.count)
        guard receiver.isComplete else {
            current = consume receiver
            return
        }
        outcome.parts.append(try receiver.seal())
        transfers.report(.fileDone(request.entry))
    }

    private func begin(_ expected: ExpectedFile) throws(StoreError) -> ObjectReceiver {
        var receiver = try transfers.objects.receive(expected)
        // Named as the object is on our own servers: there it goes on at the byte.
        try receiver.begin(at: 0, validator: nil)
        return receiver
    }

    /// - Parameter error: what ended it; nil where the answer came to its end.
    consuming func finish(_ error: SyncError?, at path: String) -> PackOutcome {
        var outcome = outcome
        outcome.hasMoved = current != nil
        outcome.error = error ?? (outcome.parts.count < requests.count ? .fetch(.short(path)) : nil)
        return outcome
    }
}
