import NIOCore
import NIOHTTP1

/// Serves one client's connection from the first request that its front did not answer: reads a request, answers it, reads the
/// next.
///
/// After the last answer, ``ConnectionFront`` has the turn again.
///
/// Pipelined requests wait in `buffer`, and behind it in the kernel, until the previous one is answered. So answers are in order,
/// and a client that only sends is slowed down. Every wait for the client has a ``Deadline``.
struct Connection {
    /// How long a client may continue to send after a last response.
    static let lingerTime = Duration.seconds(30)

    let handover: ConnectionHandover
    let responder: Responder
    var channel: any Channel { responder.channel }
    var configuration: FileServerConfiguration { responder.configuration }
    var exchange: Exchange { responder.exchange }
    var connections: Connections { responder.connections }
    var place: Connections.Place { responder.place }
    /// The right of the client whose request is answered.
    private(set) var right: ClientAuthorization

    private var inbound: NIOAsyncChannelInboundStream<ConnectionInput>.AsyncIterator
    /// The request that the front decided on.
    ///
    /// It precedes the bytes in ``buffer``.
    private var opened: OpenedRequest?
    var buffer = ByteBuffer()
    /// The number of deliveries from the front.
    private var deliveries = 0
    /// All bytes received.
    private(set) var received = 0
    private var scanner: RequestHeadScanner

    init(
        _ handover: ConnectionHandover,
        _ responder: Responder,
        inbound: NIOAsyncChannelInboundStream<ConnectionInput>
    ) {
        self.handover = handover
        self.responder = responder
        self.inbound = inbound.makeAsyncIterator()
        right = handover.right
        scanner = RequestHeadScanner(
            maxHeadBytes: responder.configuration.maxHeaderBytes,
            maxTargetBytes: responder.configuration.maxTargetBytes
        )
    }

    /// Returns when nothing more will be answered.
    ///
    /// The caller closes the channel.
    mutating func serve() async {
        while true {
            let keepsConnection: Bool
            do throws(RequestFault) {
                guard let (head, opening) = try await nextHead(), connections.begin(place, right) else { return }
                keepsConnection = await answer(head, opening)
            } catch {
                // Without a head, `begin` was not called. A stopping server owes no answer to such a request.
                keepsConnection = await responder.send(Response(error), to: nil, keepAlive: false, since: .now)
            }
            guard connections.end(place, right), keepsConnection else { return await linger() }
        }
    }

    // MARK: - Reading

    /// Waits for the next head.
    ///
    /// Returns nil if the client, the front or a stopping server closed the connection.
    ///
    /// - Returns: The head, with its decision if that was made already.
    private mutating func nextHead() async throws(RequestFault) -> (RequestHead, Exchange.Opening?)? {
        guard await waitForInput() else { return nil }
        if let opened {
            self.opened = nil
            return (opened.head, opened.opening)
        }
        let deadline = Deadline(in: configuration.headerTimeout, .wakingReader, channel)
        defer { deadline.cancel() }
        while true {
            if let head = try scanner.next(from: &buffer) { return (head, nil) }
            if deadline.hasExpired { throw .tooSlow }
            guard await fill() else {
                if buffer.readableBytes == 0 || !channel.isActive { return nil }
                throw .headEndsEarly
            }
        }
    }

    /// Waits for input.
    ///
    /// Meanwhile the front has the turn and applies the idle time-out.
    private mutating func waitForInput() async -> Bool {
        if deliveries > 0, buffer.readableBytes == 0 { handover.returnConnection(after: deliveries) }
        // A loop, because a late deadline may wake the reader without input.
        while opened == nil, buffer.readableBytes == 0 {
            guard await fill() else { return false }
        }
        return true
    }

    private mutating func receiveBody(
        _ framing: BodyFraming,
        expectsContinue: Bool
    ) async throws(RequestFault) -> [UInt8] {
        var body = try RequestBody(framing, limit: configuration.maxBodyBytes)
        let deadline = Deadline(in: configuration.bodyTimeout, .wakingReader, channel)
        defer { deadline.cancel() }
        var bytes: [UInt8] = []
        var expectsContinue = expectsContinue
        while true {
            while let piece = try body.next(from: &buffer) { bytes += piece.readableBytesView }
            if body.isComplete { return bytes }
            if expectsContinue { await sendContinue() }
            expectsContinue = false
            if deadline.hasExpired { throw .tooSlow }
            if !connections.awaitsBody(place, right) { channel.close(promise: nil) }
            guard await fill() else { throw .bodyEndsEarly }
        }
    }

    func sendContinue() async {
        // The next read detects a client that has disconnected.
        _ = await responder.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
    }

    /// Appends received bytes to `buffer`.
    ///
    /// Returns false at the end of input, also after a reset.
    mutating func fill() async -> Bool {
        // For a client that pipelines without a pause, the buffer is never empty. It must not grow for that reason.
        buffer.discardReadBytes()
        guard let input = try? await inbound.next(isolation: #isolation) else { return false }
        switch input {
        case .request(let request, let bytes):
            opened = request
            append(bytes)
        case .bytes(let bytes): append(bytes)
        case .wake: break
        }
        return true
    }

    private mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        deliveries += 1
        received += bytes.readableBytes
        if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
    }

    // MARK: - Answering

    /// Answers one request.
    ///
    /// Returns false if the connection ends with it.
    ///
    /// - Parameter opening: The decision by the head, if it was made already.
    private mutating func answer(_ head: RequestHead, _ opening: Exchange.Opening?) async -> Bool {
        var since = ContinuousClock.now
        var keepsConnection = head.wantsKeepAlive
        let response: Response
        do throws(RequestFault) {
            try findClient(head)
            let decided = if let opening { opening } else { try exchange.open(head) }
            switch decided {
            case .refuse(let refusal, let keeps):
                response = refusal
                keepsConnection = keepsConnection && keeps
            case .receive(let request, let decision, let framing, let expectsContinue)
            where decision.intake == .whole:
                let body = try await receiveBody(framing, expectsContinue: expectsContinue)
                guard connections.begin(place, right) else { return false }
                since = .now
                switch await exchange.reply(
                    to: request.from(channel, handover.group, right).with(body: body),
                    by: decision
                ) {
                case .response(let whole): response = whole
                case .tunnel(let tunnel): return await run(tunnel, for: head)
                }
            case .receive(let request, let decision, let framing, let expectsContinue):
                let body = StreamedBody(
                    try RequestBody(framing, limit: nil),
                    expectsContinue: expectsContinue,
                    pace: configuration.sendingPace(of: decision.intake)
                )
                return try await answer(
                    head,
                    request.from(channel, handover.group, right),
                    by: decision,
                    streaming: body
                )
            }
        } catch {
            response = Response(error)
            keepsConnection = false
        }
        keepsConnection = keepsConnection && !connections.isStopping
        return await responder.send(response, to: head, keepAlive: keepsConnection, since: since)
    }

    /// Determines the client of a request.
    ///
    /// A proxy's requests are from different clients, each with a share and a right of its own.
    private mutating func findClient(_ head: RequestHead) throws(RequestFault) {
        let address = channel.remoteAddress?.ipAddress
        guard let client = responder.server.client(by: handover.group, at: address, head.headers) else { return }
        right = ClientAuthorization()
        guard connections.ask(place, for: client) else {
            responder.server.losses.add(.refused, of: client, on: channel.eventLoop)
            throw .tooManyConnections
        }
    }

    /// Half-closes the connection and waits for the client's end (RFC 9112 §9.6).
    ///
    /// Closing with unread bytes would reset the connection, and a reset drops the response before the client has read it.
    private mutating func linger() async {
        guard channel.isActive else { return }
        let end = Deadline(in: Self.lingerTime, .closing, channel)
        defer { end.cancel() }
        try? await channel.close(mode: .output)
        var isOpen = true
        while isOpen {
            let stall = Deadline(in: Deadline.lingering, .closing, channel)
            buffer.clear()
            isOpen = await fill()
            stall.cancel()
        }
    }
}
