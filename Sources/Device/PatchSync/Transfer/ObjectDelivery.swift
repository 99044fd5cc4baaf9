import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore

/// The transfer of one object into the store.
///
/// All servers are tried, repeatedly, and each try continues where the last one stopped.
struct ObjectDelivery {
    private let request: ObjectRequest
    private let transfers: Transfers
    /// Servers that do not have the object or sent wrong bytes.
    ///
    /// They are not asked for it again.
    private var passedOver: [String: SyncError] = [:]
    /// The names of servers whose compressed form was wrong.
    private var plainRequested: Set<String> = []
    /// Bytes of the partial file that no later try requests again.
    private var progress = 0
    /// Bytes of the partial file at the beginning, or nil before it.
    private var start: Int?

    /// Whether bytes were received that no later sync requests again.
    var hasMoved: Bool { start.map { progress > $0 } ?? false }

    fileprivate init(_ request: ObjectRequest, by transfers: Transfers) {
        self.request = request
        self.transfers = transfers
    }

    /// Downloads the object.
    ///
    /// `end` processes it once all bytes are received.
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

    /// The error to report when all servers failed.
    ///
    /// A fault of the object has priority over a connection error, because the unreachable server may be the only one with that
    /// problem.
    private func worst(of errors: [SyncError]) -> SyncError {
        let all = errors + passedOver.values
        return all.first { !$0.endsSync } ?? all.first ?? .fetch(.notFound(request.path))
    }

    private mutating func judge(_ source: Source, _ error: SyncError) {
        switch error {
        case .fetch(let fetch) where fetch.isWorthRetrying: transfers.sources.moveToEnd(source)
        case .fetch(let fetch) where !fetch.isServerFault: passedOver[source.name] = error
        default:
            passedOver[source.name] = error
            transfers.sources.note(MirrorFault(server: source.name, wrong: .lied(error)))
        }
    }

    /// The facts of one request.
    private struct Facts {
        /// Whether it continued a partial file.
        var isResumed = false
        /// The compressed form in the answer.
        var coding: CompressionFormat?
        /// An announced coding that this device does not decode.
        var unread: String?
    }

    /// Tries one server.
    ///
    /// If stored partial bytes were wrong, it tries again from the first byte. If the compressed form was wrong, it tries again
    /// without compression, so that a wrong compressed form never prevents the download of the file.
    private mutating func deliver<Received>(
        from source: Source,
        within time: Duration,
        _ end: (consuming ObjectReceiver) throws(StoreError) -> Received
    ) async -> Result<Received, SyncError> {
        if Task.isCancelled { return .failure(.fetch(.cancelled)) }
        do throws(StoreError) {
            var facts = Facts()
            var received = try await receive(from: source, within: time, &facts, end)
            if case .failure(let error) = received, facts.isResumed, error.blamesPart {
                try transfers.objects.removePart(of: request.expected)
                received = try await receive(from: source, within: time, &facts, end)
            }
            if case .failure(let error) = received, error.blamesForm(facts.coding) {
                plainRequested.insert(source.name)
                transfers.report(.plainRequested(request.entry, because: error))
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
        let isPlain = plainRequested.contains(source.name)
        var intake = try ObjectIntake.begin(request.expected, into: transfers.objects, isPlain: isPlain)
        facts.isResumed = intake.isResumed
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

    /// The error for wrong bytes.
    ///
    /// It names the entry, or the coding that may be the reason.
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
            // Some proxies compress the file and announce the length of the plain one.
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

    /// Removes the partial file, because the bytes of a web page must not be continued.
    private func webPage() throws(StoreError) -> SyncError {
        try transfers.objects.removePart(of: request.expected)
        return .fetch(.webPage(request.path))
    }
}

extension Transfers {
    /// Downloads one object into the store and hashes it meanwhile.
    ///
    /// Continues at the byte where an earlier try stopped.
    ///
    /// Returns nil on success.
    func receive(_ request: ObjectRequest) async -> SyncError? {
        var delivery = ObjectDelivery(request, by: self)
        return await delivery.run { (receiver) throws(StoreError) in try receiver.finish() }.error
    }

    /// Downloads one object and hashes it meanwhile.
    ///
    /// A batch stores it later.
    ///
    /// - Returns: the result, and whether received bytes stay, regardless of the result.
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
    /// Whether bytes of an earlier request may be the cause.
    fileprivate var blamesPart: Bool {
        switch self {
        case .object, .fetch(.badForm): true
        default: false
        }
    }

    /// Whether the plain file may be right although its compressed form was wrong.
    fileprivate func blamesForm(_ coding: CompressionFormat?) -> Bool {
        switch self {
        case .fetch(.badForm): true
        case .object: coding != nil
        default: false
        }
    }
}
