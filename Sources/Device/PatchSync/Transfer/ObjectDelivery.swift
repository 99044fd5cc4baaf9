import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore

/// The way of one object into the store: server after server, try after try, each going on where the last one stopped.
struct ObjectDelivery {
    private let request: ObjectRequest
    private let transfers: Transfers
    /// Servers that do not have the object, or lied about it, are not asked for it again.
    private var passedOver: [String: SyncError] = [:]
    /// Servers whose compressed form was none of the object, by name.
    private var askedPlain: Set<String> = []
    /// Bytes in the part that no later try asks for.
    private var progress = 0
    /// Bytes in the part when it began; nil before.
    private var start: Int?

    /// Whether bytes came that no later sync asks for.
    var hasMoved: Bool { start.map { progress > $0 } ?? false }

    fileprivate init(_ request: ObjectRequest, by transfers: Transfers) {
        self.request = request
        self.transfers = transfers
    }

    /// What comes of the object once it is here: that is for `end` to do.
    mutating func run<Received>(
        ending end: (consuming ObjectReceiver) throws(StoreError) -> Received
    ) async -> Result<Received, SyncError> {
        var attempts = Attempts(transfers.deadlines)
        var spent: [String: Duration] = [:]
        while true {
            let before = progress
            var errors: [SyncError] = []
            for source in transfers.sources.inOrder where passedOver[source.name] == nil {
                let left = transfers.deadlines.object(of: request.expected.size) - spent[source.name, default: .zero]
                let begin = transfers.timing.clock()
                let delivered = await deliver(from: source, within: left, end)
                guard case .failure(let error) = delivered, !error.isOwn else { return delivered }
                spent[source.name, default: .zero] += transfers.timing.clock() - begin
                errors.append(error)
                judge(source, error)
            }
            let next = attempts.failed(
                errors.compactMap(\.fetchError),
                progress: progress > before,
                random: transfers.timing.random()
            )
            guard case .again(let wait) = next else { return .failure(worst(of: errors)) }
            if let error = await transfers.pause(wait, because: worst(of: errors)) { return .failure(error) }
        }
    }

    /// What it says when all servers have failed: rather what is wrong with the object than with the way to one of them,
    /// for that way may be the only one that is closed.
    private func worst(of errors: [SyncError]) -> SyncError {
        let all = errors + passedOver.values
        return all.first { !$0.endsSync } ?? all.first ?? .fetch(.notFound(request.path))
    }

    private mutating func judge(_ source: Source, _ error: SyncError) {
        switch error {
        case .fetch(let fetch) where fetch.isWorthRetrying: transfers.sources.putLast(source)
        case .fetch(let fetch) where !fetch.isLie: passedOver[source.name] = error
        default:
            passedOver[source.name] = error
            transfers.sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
    }

    /// What one request came to.
    private struct Facts {
        /// Whether it went on with something.
        var hadPart = false
        /// The compressed form that was answered.
        var coding: CompressionFormat?
        /// The announced coding that is not decoded.
        var unread: String?
    }

    /// One try with one server; one more from the first byte when what was here before did not fit, and one more without a
    /// compressed form when that was wrong: it never keeps a device from what the file itself gives.
    private mutating func deliver<Received>(
        from source: Source,
        within time: Duration,
        _ end: (consuming ObjectReceiver) throws(StoreError) -> Received
    ) async -> Result<Received, SyncError> {
        if Task.isCancelled { return .failure(.fetch(.cancelled)) }
        do throws(StoreError) {
            var facts = Facts()
            var received = try await receive(from: source, within: time, &facts, end)
            if case .failure(let error) = received, facts.hadPart, error.blamesPart {
                try transfers.objects.removePart(of: request.expected)
                received = try await receive(from: source, within: time, &facts, end)
            }
            if case .failure(let error) = received, error.blamesForm(facts.coding) {
                askedPlain.insert(source.name)
                transfers.report(.askedPlain(request.entry, because: error))
                try transfers.objects.removePart(of: request.expected)
                received = try await receive(from: source, within: time, &facts, end)
            }
            return received
        } catch { return .failure(SyncError(error, entry: request.entry)) }
    }

    private mutating func receive<Received>(
        from source: Source,
        within time: Duration,
        _ facts: inout Facts,
        _ end: (consuming ObjectReceiver) throws(StoreError) -> Received
    ) async throws(StoreError) -> Result<Received, SyncError> {
        let isPlain = Route(.file(isPlainOnly: askedPlain.contains(source.name))) == .plain
        var intake = try ObjectIntake.begin(request.expected, into: transfers.objects, isPlain: isPlain)
        facts.hadPart = intake.hadPart
        start = start ?? intake.lasting
        progress = max(progress, intake.lasting)
        if !intake.isWhole {
            let error = try await fetch(into: &intake, from: source, within: time, isPlain: isPlain, &facts)
            facts.coding = intake.coding
            if let error { return .failure(error) }
        }
        do throws(StoreError) {
            let received = try end(try intake.finish())
            transfers.report(.fileDone(request.entry))
            return .success(received)
        } catch .mismatch(_, let field) {
            return .failure(wrong(field, facts))
        }
    }

    /// The answer is not the object: named by its entry, as any other wrong bytes are, or by the coding that may be the reason.
    private func wrong(_ field: String, _ facts: Facts) -> SyncError {
        facts.unread.map { .fetch(.encoded(request.path, as: $0)) } ?? .object(entry: request.entry, field: field)
    }

    private mutating func fetch(
        into intake: inout ObjectIntake,
        from source: Source,
        within time: Duration,
        isPlain: Bool,
        _ facts: inout Facts
    ) async throws(StoreError) -> SyncError? {
        let expected = request.expected
        var fetch = FetchRequest(request.path, limit: expected.size, deadline: time, expected: expected)
        (fetch.resume, fetch.isPlain) = (intake.resume, isPlain)
        var failure: ObjectIntake.Failure?
        var isWebPage = false
        do throws(FetchError) {
            try await source.fetcher.fetch(fetch) { part throws(FetchError) in
                do throws(ObjectIntake.Failure) {
                    switch part {
                    case .head(let head):
                        (isWebPage, facts.unread) = (head.isWebPage, head.unread)
                        try intake.begin(head)
                    case .bytes(let chunk):
                        transfers.sources.count(chunk.count)
                        let bytes = try intake.append(chunk)
                        if bytes > 0 { transfers.report(.received(bytes: bytes)) }
                    }
                } catch {
                    failure = error
                    throw .notTaken(fetch.path, reason: "\(error)")
                }
            }
            do throws(ObjectIntake.Failure) { try intake.end() } catch {
                failure = error
                throw .notTaken(fetch.path, reason: "\(error)")
            }
        } catch {
            if case .store(let error) = failure { throw error }
            // Some proxies compress, and announce the plain file's length.
            if failure == nil, intake.coding != nil, intake.isWhole { return nil }
            progress = max(progress, intake.lasting)
            if case .form(let error) = failure {
                return isWebPage ? try webPage() : .fetch(.badForm(fetch.path, error))
            }
            try intake.breakOff()
            switch error {
            case .tooLarge where isWebPage: return try webPage()
            case .tooLarge: return wrong("size", facts)
            default: return .fetch(error)
            }
        }
        return !intake.isWhole && isWebPage ? try webPage() : nil
    }

    /// Nobody goes on from the bytes of a page.
    private func webPage() throws(StoreError) -> SyncError {
        try transfers.objects.removePart(of: request.expected)
        return .fetch(.webPage(request.path))
    }
}

extension Transfers {
    /// One object from the servers into the store, digested as it comes; goes on at the byte where it stopped.
    ///
    /// Nil when it is there.
    func receive(_ request: ObjectRequest) async -> SyncError? {
        var delivery = ObjectDelivery(request, by: self)
        return await delivery.run { (receiver) throws(StoreError) in try receiver.finish() }.error
    }

    /// One object from the servers, digested as it comes; for a batch to put into the store.
    ///
    /// - Returns: also whether bytes came that stay, whatever became of the whole.
    func receivePart(of request: ObjectRequest) async -> (Result<SealedPart, SyncError>, hasMoved: Bool) {
        var delivery = ObjectDelivery(request, by: self)
        let result = await delivery.run { (receiver) throws(StoreError) in try receiver.seal() }
        return (result, delivery.hasMoved)
    }
}

extension Result {
    fileprivate var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension SyncError {
    /// Whether it may be the fault of bytes that were here before.
    fileprivate var blamesPart: Bool {
        switch self {
        case .object, .fetch(.badForm): true
        default: false
        }
    }

    /// Whether the file itself may be right where its compressed form was not.
    fileprivate func blamesForm(_ coding: CompressionFormat?) -> Bool {
        switch self {
        case .fetch(.badForm): true
        case .object: coding != nil
        default: false
        }
    }
}
