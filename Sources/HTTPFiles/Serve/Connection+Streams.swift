import NIOCore
import NIOHTTP1

extension Connection {
    /// What of an unread body is read and thrown away to keep the connection; with more to come it ends.
    private static let maxDrainedBytes = 64 * 1024

    /// What the task that answers a request leaves for the one that reads the connection.
    private enum Outcome: Sendable {
        case answered(keepsConnection: Bool)
        case tunnel(ServedTunnel)
    }

    /// Answers a request whose body the source takes piece by piece; false when the connection ends with it.
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
        let exchange = responder.exchange
        var response: Response
        let answering: @Sendable () async -> Exchange.Reply = {
            await exchange.reply(to: request, by: decision)
        }
        let reply =
            decision.intake.isKept
            ? await answering() : await responder.client.cancelling(at: .input, answering)
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
            since: since
        )
        return .answered(keepsConnection: keeps && request.stream?.pieces.fault == nil)
    }

    /// Reads as much of the body as is asked for, until nobody asks any more.
    private mutating func pump(_ body: inout StreamedBody, to pieces: DemandChannel) async {
        while await pieces.isAsked() {
            do throws(RequestFault) {
                let piece = try await next(of: &body, while: { !pieces.isClosed })
                // From here on it is the client who waits.
                if body.decoder.isComplete { connections.answers(place, right) }
                if let piece {
                    pieces.give(piece)
                } else if body.decoder.isComplete {
                    pieces.finish()
                }
            } catch { pieces.finish(throwing: error) }
        }
    }

    /// The next piece; nil at the body's end, or once nobody waits for it.
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

    /// Waits for the client no longer than its pace leaves it time.
    private mutating func fill(within pace: inout Pace) async throws(RequestFault) -> Bool {
        let deadline = Deadline(in: pace.left, .wakingReader, channel)
        defer { deadline.cancel() }
        let (since, before) = (ContinuousClock.now, received)
        let isOpen = await fill()
        pace.moved(received - before, in: since.duration(to: .now))
        if pace.isSpent || deadline.hasExpired && received == before { throw .tooSlow }
        return isOpen
    }

    /// Reads what is left of a body that nobody wanted; false when the connection is better ended.
    private mutating func drain(_ body: inout StreamedBody) async -> Bool {
        // A client that still waits for its 100 may send the body, or the next request.
        guard !body.expectsContinue || body.decoder.isComplete else { return false }
        do throws(RequestFault) {
            while try await next(of: &body, while: { true }) != nil {}
            return body.decoder.isComplete
        } catch { return false }
    }
}
