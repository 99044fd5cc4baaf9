import NIOCore
import NIOHTTP1

extension Connection {
    /// The most bytes of an unread body that are read and discarded to keep the connection.
    ///
    /// A longer rest ends it.
    private static let maxDrainedBytes = 64 * 1024

    /// The result that the answering task leaves for the task that reads the connection.
    private enum Outcome: Sendable {
        case answered(keepsConnection: Bool)
        case tunnel(ServedTunnel)
    }

    /// Answers a request whose body the source reads piece by piece.
    ///
    /// Returns false if the connection ends with it.
    mutating func answer(
        _ head: RequestHead,
        _ request: FileRequest,
        by decision: FileDecision,
        streaming body: StreamedBody
    ) async throws(RequestFault) -> Bool {
        var body = body
        let (pieces, responder) = (DemandChannel(), responder)
        let request = request.with(RequestStream(length: body.decoder.remaining, pieces: pieces))
        let rest = body.rest
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            guard !body.decoder.isComplete else {
                // Without a body, no task has to read one.
                pieces.finish()
                defer { pieces.close() }
                return await Self.answer(head, request, by: decision, responder, rest: rest)
            }
            group.addTask {
                let outcome = await Self.answer(head, request, by: decision, responder, rest: rest)
                pieces.close()
                if rest.value != 0 { responder.wakeReader() }
                return outcome
            }
            await pump(&body, to: pieces)
            return await group.next() ?? .answered(keepsConnection: false)
        }
        switch outcome {
        case .answered(true): return await drain(&body)
        case .answered(false): return false
        case .tunnel(let tunnel): return await run(tunnel, for: head)
        }
    }

    private static func answer(
        _ head: RequestHead,
        _ request: FileRequest,
        by decision: FileDecision,
        _ responder: Responder,
        rest: StreamedBody.Rest
    ) async -> Outcome {
        let since = ContinuousClock.now
        @Sendable func send(_ reply: Exchange.Reply, _ watch: Responder.Watch) async -> Outcome {
            await Self.send(reply, to: head, request, by: decision, responder, watch, rest: rest, since: since)
        }
        guard !decision.intake.isKept else {
            return await send(await responder.exchange.reply(to: request, by: decision), .clientsEnd)
        }
        enum Answering: Sendable {
            case over(Outcome)
            case made(Exchange.Reply)
        }
        // One watch for both. An answer that is not a stream is also sent to a client that has ended its input.
        let answering = await responder.client.cancelling(at: .input) { () -> Answering in
            let reply = await responder.exchange.reply(to: request, by: decision)
            guard case .response(let response) = reply, case .stream = response.body else { return .made(reply) }
            return .over(await send(reply, .none))
        }
        switch answering {
        case .over(let outcome): return outcome
        case .made(let reply): return await send(reply, .clientsEnd)
        }
    }

    private static func send(
        _ reply: Exchange.Reply,
        to head: RequestHead,
        _ request: FileRequest,
        by decision: FileDecision,
        _ responder: Responder,
        _ watch: Responder.Watch,
        rest: StreamedBody.Rest,
        since: ContinuousClock.Instant
    ) async -> Outcome {
        var response: Response
        if let right = request.right { responder.connections.answers(responder.place, right) }
        switch reply {
        case .tunnel(let tunnel): return .tunnel(tunnel)
        case .response(let reply): response = reply
        }
        var keepsConnection = head.wantsKeepAlive && !responder.connections.isStopping
        if let fault = request.stream?.pieces.fault {
            response = Response(fault)
            keepsConnection = false
        }
        let isDrainable = rest.value.map { $0 <= maxDrainedBytes } ?? false
        let keeps = await responder.send(
            response,
            to: head,
            keepAlive: keepsConnection && isDrainable,
            since: since,
            onLoop: decision.isPassing,
            watch
        )
        return .answered(keepsConnection: keeps && request.stream?.pieces.fault == nil)
    }

    /// Reads as much of the body as is requested, until the consumer closes.
    private mutating func pump(_ body: inout StreamedBody, to pieces: DemandChannel) async {
        while await pieces.waitForDemand() {
            do throws(RequestFault) {
                let piece = try await next(of: &body, while: { !pieces.isClosed })
                // From now on the client waits for the server.
                if body.decoder.isComplete { connections.answers(place, right) }
                if let piece {
                    pieces.give(piece)
                } else if body.decoder.isComplete {
                    pieces.finish()
                }
            } catch { pieces.finish(throwing: error) }
        }
    }

    /// Returns the next piece, or nil at the body's end or when the consumer has closed.
    private mutating func next(
        of body: inout StreamedBody,
        while isWanted: () -> Bool
    ) async throws(RequestFault) -> ByteBuffer? {
        while isWanted() {
            if let piece = try body.next(from: &buffer) { return piece }
            if body.decoder.isComplete { return nil }
            if body.expectsContinue {
                body.expectsContinue = false
                await sendContinue()
            }
            connections.awaitsMore(place, right)
            guard try await fill(within: &body.pace) else { throw .bodyEndsEarly }
        }
        return nil
    }

    /// Waits for the client no longer than its pace allows.
    private mutating func fill(within pace: inout Pace) async throws(RequestFault) -> Bool {
        let deadline = Deadline(in: pace.left, .wakingReader, channel)
        defer { deadline.cancel() }
        let (since, before) = (ContinuousClock.now, received)
        let isOpen = await fill()
        pace.moved(received - before, in: since.duration(to: .now))
        if pace.isSpent || deadline.hasExpired && received == before { throw .tooSlow }
        return isOpen
    }

    /// Reads and discards the unused rest of a body.
    ///
    /// Returns false if ending the connection is better.
    private mutating func drain(_ body: inout StreamedBody) async -> Bool {
        guard !body.decoder.isComplete else { return true }
        // A client that still waits for its 100 may send either the body or the next request.
        guard !body.expectsContinue else { return false }
        connections.awaitsRest(place, right)
        do throws(RequestFault) {
            while try await next(of: &body, while: { true }) != nil {}
            return body.decoder.isComplete
        } catch { return false }
    }
}
