import NIOCore
import NIOHTTP1

/// The front of one connection, on its event loop.
///
/// It answers requests that can be answered at once and hands the others to the ``Connection`` behind it.
///
/// ``ConnectionTurn`` decides the action at each event, and the front carries it out. While ``Connection`` has the turn, it
/// receives every byte, so no answer overtakes another and no body is mistaken for a request. Nothing is read while an answer is
/// being sent, which slows down a client that only sends. Between two requests the front waits, so an idle connection needs no
/// task.
final class ConnectionFront: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ConnectionInput
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    let server: RunningServer
    let responder: LoopResponder
    /// The connection's place in ``Connections``.
    let place: Connections.Place
    let group: ClientGroup
    let right = ClientAuthorization()
    /// The pace at which the client reads, over all of its answers.
    var pace: Pace
    /// Set while the handler is in a pipeline.
    private var context: ChannelHandlerContext?
    private var turn = ConnectionTurn()
    /// The request that was decided on but not handed over yet.
    ///
    /// The bytes in ``buffer`` follow it.
    private var opened: OpenedRequest?
    /// Received bytes that are not parsed or handed over yet.
    private var buffer = ByteBuffer()
    private var idleSince = NIODeadline.now()
    private var idleTask: Scheduled<Void>?

    init(server: RunningServer, responder: LoopResponder, place: Connections.Place, group: ClientGroup) {
        self.server = server
        self.responder = responder
        self.place = place
        self.group = group
        pace = server.configuration.readingPace
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watchIdleness(in: TimeAmount(server.configuration.idleTimeout), context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        turn.closes()
        idleTask?.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch turn.received() {
        case .keep: if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
        case .deliver: context.fireChannelRead(wrapInboundOut(.bytes(bytes)))
        case .drop: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch turn.receivedAll() {
        case .look: look()
        case .passOn: context.fireChannelReadComplete()
        case .nothing: break
        }
    }

    func read(context: ChannelHandlerContext) {
        switch turn.readRequested() {
        case .read: context.read()
        case .hold: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        switch turn.inputEnded() {
        case .look: look()
        case .notify: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .close: context.close(promise: nil)
        case .nothing: break
        }
    }

    private func go(on afterwards: ConnectionTurn.Afterwards, _ context: ChannelHandlerContext) {
        if afterwards.contains(.notifyEnd) { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        if afterwards.contains(.read) { context.read() }
    }

    private func close(_ context: ChannelHandlerContext) {
        turn.closes()
        context.close(promise: nil)
    }

    // MARK: - Answering

    /// Answers received requests in order, until none is left or ``Connection`` gets the turn.
    private func look() {
        while let context {
            switch turn.next(hasInput: opened != nil || buffer.readableBytes > 0) {
            case .answer:
                guard answerBatch(context) else { return }
            case .wait(let afterwards):
                idleSince = .now()
                return go(on: afterwards, context)
            case .close:
                return context.close(promise: nil)
            case .stop:
                return
            }
        }
    }

    /// - Returns: Whether the answers are already written and there may be more requests.
    private func answerBatch(_ context: ChannelHandlerContext) -> Bool {
        let batch = nextBatch()
        guard !batch.isEmpty else {
            handOver(context)
            return false
        }
        // The server is stopping, or the place was given to another connection.
        guard server.connections.begin(place, right) else {
            close(context)
            return false
        }
        guard case .write = turn.starts() else { return false }
        PreparedWriting(admitted(batch), of: self, in: context).start()
        return turn.started() == .look
    }

    /// Takes the answers that can be written together.
    ///
    /// A file may follow the last one.
    private func nextBatch() -> [PreparedAnswer] {
        var batch: [PreparedAnswer] = []
        var bytes = 0
        while opened == nil, buffer.readableBytes > 0, bytes < FileSending.sliceSize {
            switch responder.take(from: &buffer) {
            case .answer(let answer):
                batch.append(answer)
                if answer.showsRight { right.show() }
                bytes += answer.bodyBytes
                if answer.keepsConnection, answer.part == nil { continue }
            case .request(let request):
                opened = request
            case .nothing:
                break
            }
            break
        }
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return batch
    }

    /// Admits each request separately, because those of a proxy are from different clients, each with a share of its own.
    private func admitted(_ batch: [PreparedAnswer]) -> [PreparedAnswer] {
        guard let last = batch.last, let context,
            let client = server.client(by: group, at: remoteAddress, last.head.headers),
            !server.connections.ask(place, for: client)
        else { return batch }
        server.losses.add(.refused, of: client, on: context.eventLoop)
        return batch.dropLast() + [responder.refusal(.tooManyConnections, to: last.head)]
    }

    /// The kernel has the answers, or they can no longer be sent.
    func didWrite(keepsConnection: Bool) {
        guard let context else { return }
        switch turn.written(keepsConnection: server.connections.end(place, right) && keepsConnection) {
        case .look: look()
        case .linger(let afterwards): linger(afterwards, context)
        case .close: context.close(promise: nil)
        case .nothing: break
        }
    }

    /// Half-closes the connection and waits for the client's end, as ``Connection`` does.
    private func linger(_ afterwards: ConnectionTurn.Afterwards, _ context: ChannelHandlerContext) {
        (opened, buffer) = (nil, ByteBuffer())
        let channel = context.channel
        context.eventLoop.scheduleTask(in: TimeAmount(Deadline.lingering)) { channel.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        go(on: afterwards, context)
    }

    // MARK: - The turn of Connection

    private func handOver(_ context: ChannelHandlerContext) {
        switch turn.handsOver() {
        case .ask:
            let front = NIOLoopBound(self, eventLoop: context.eventLoop)
            let handover = ConnectionHandover(
                channel: context.channel,
                front: front,
                place: place,
                group: group,
                right: right
            )
            if !server.handOver(handover) { close(context) }
        case .deliver(let afterwards): deliver(afterwards, context)
        case .stop: break
        }
    }

    /// Gives ``Connection`` the turn, with every unanswered request.
    ///
    /// - Returns: The input for the task that serves the connection.
    func attach() throws -> Client {
        guard let context, context.channel.isActive, case .deliver(let afterwards) = turn.attaches() else {
            throw ChannelError.ioOnClosedChannel
        }
        let channel = context.channel
        let end = ClientEnd()
        try channel.pipeline.syncOperations.addHandlers([end, ReaderWake()])
        let input = try NIOAsyncChannel<ConnectionInput, Never>(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
        )
        deliver(afterwards, context)
        return Client(input: input, end: end)
    }

    private func deliver(_ afterwards: ConnectionTurn.Afterwards, _ context: ChannelHandlerContext) {
        let input = opened.map { ConnectionInput.request($0, buffer) } ?? .bytes(buffer)
        (opened, buffer) = (nil, ByteBuffer())
        context.fireChannelRead(wrapInboundOut(input))
        context.fireChannelReadComplete()
        go(on: afterwards, context)
    }

    /// Takes the turn back after ``Connection`` has answered all that it received.
    ///
    /// Ignored if more is being delivered.
    ///
    /// - Parameter deliveries: The number of deliveries that ``Connection`` received.
    func takeBack(after deliveries: Int) {
        switch turn.taskFinished(after: deliveries) {
        case .wait: idleSince = .now()
        case .nothing: break
        }
    }

    // MARK: - The access log

    private lazy var remoteAddress = context?.channel.remoteAddress?.ipAddress ?? "-"

    func entry(_ answer: PreparedAnswer, bodyBytes: Int, _ duration: Duration) -> AccessLogEntry {
        AccessLogEntry(
            method: answer.head.method.rawValue,
            target: answer.head.target,
            status: answer.status,
            bodyBytes: bodyBytes,
            duration: duration,
            remoteAddress: server.address(at: remoteAddress, answer.head.headers),
            userAgent: answer.head.headers.first(name: "User-Agent")
        )
    }

    // MARK: - Idleness

    /// Returns how long to sleep before the next check of a client that was idle for some time, or nil if it was idle too long.
    static func rest(of limit: TimeAmount, afterIdle idle: TimeAmount) -> TimeAmount? {
        idle < limit ? limit - idle : nil
    }

    /// Schedules one task for many requests: it checks when it is due and is scheduled again.
    private func watchIdleness(in time: TimeAmount, _ context: ChannelHandlerContext) {
        idleTask = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [unowned self] in
            let idle = turn.isWaiting ? NIODeadline.now() - idleSince : .zero
            guard let rest = Self.rest(of: TimeAmount(server.configuration.idleTimeout), afterIdle: idle) else {
                return context.close(promise: nil)
            }
            watchIdleness(in: rest, context)
        }
    }
}
