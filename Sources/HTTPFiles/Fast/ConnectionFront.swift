import NIOCore
import NIOHTTP1

/// The front of one connection, on its event loop: answers what can be answered at once and hands the rest to the
/// ``Connection`` behind it.
///
/// ```
///        ┌──────────── answered ─────────────┐
///        ▼                                   │
/// ours (at a message boundary) ──prepared──▶ writing ──last answer──▶ ending
///    │ ▲                                                               (linger)
///    │ └──given back: all it got is answered── theirs ◀──attached── handingOver
///    └──────────────anything else────────────────▲─────────────────────┘
/// ```
///
/// While ``Connection`` has the turn every byte goes to it, so no answer overtakes another and no body is taken for a
/// request. While an answer is on its way nothing is read, which holds a client back that only sends. Between two
/// requests it is the front that waits, so an idle connection has no task.
final class ConnectionFront: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    enum Turn: Equatable {
        case ours
        case writing
        case handingOver
        case theirs
        case ending
    }

    let server: RunningServer
    let desk: AnswerDesk
    /// Among the server's connections.
    let place: Connections.Place
    let group: ClientGroup
    let standing = Standing()
    /// Of the client's reading, over all of its answers.
    var pace: Pace
    /// Set for as long as the handler is in a pipeline.
    private var context: ChannelHandlerContext?
    private(set) var turn = Turn.ours
    /// Received and not yet anybody's.
    private var buffer = ByteBuffer()
    private var isReadHeldBack = false
    private var hasInputEnded = false
    private var isAnswering = false
    private var isAttached = false
    /// Bytes that ``Connection`` got, since it is there.
    private var forwarded = 0
    private var hasToldEnd = false
    private var idleSince = NIODeadline.now()
    private var idleTask: Scheduled<Void>?

    init(server: RunningServer, desk: AnswerDesk, place: Connections.Place, group: ClientGroup) {
        self.server = server
        self.desk = desk
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
        idleTask?.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch turn {
        case .theirs:
            forwarded += unwrapInboundIn(data).readableBytes
            context.fireChannelRead(data)
        case .ending:
            break
        case .ours, .writing, .handingOver:
            var bytes = unwrapInboundIn(data)
            if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch turn {
        case .ours: answer()
        case .theirs: context.fireChannelReadComplete()
        case .writing, .handingOver, .ending: break
        }
    }

    func read(context: ChannelHandlerContext) {
        switch turn {
        case .ours, .theirs, .ending: context.read()
        case .writing, .handingOver: isReadHeldBack = true
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        hasInputEnded = true
        switch turn {
        case .ours: answer()
        case .theirs: tellEnd(context)
        case .writing, .handingOver: break
        case .ending: context.close(promise: nil)
        }
    }

    // MARK: - Answering

    /// Answers what lies in the buffer, in order, until it is empty or the turn goes to another.
    private func answer() {
        // What ends a write at once calls this again, from within.
        guard !isAnswering, let context else { return }
        isAnswering = true
        defer { isAnswering = false }
        while turn == .ours, buffer.readableBytes > 0 {
            let batch = nextBatch()
            guard !batch.isEmpty else {
                handOver(context)
                break
            }
            // The server stops, or somebody else has its place.
            guard server.connections.begin(place, standing) else { return context.close(promise: nil) }
            turn = .writing
            PreparedWriting(admitted(batch), of: self, in: context).start()
        }
        idleSince = .now()
        guard turn == .ours, hasInputEnded else { return }
        // What stands behind closes it once it knows.
        if isAttached { tellEnd(context) } else { context.close(promise: nil) }
    }

    /// The answers to the requests in the buffer that may be written together; the last one may have a file after it.
    private func nextBatch() -> [PreparedAnswer] {
        var batch: [PreparedAnswer] = []
        var bytes = 0
        while buffer.readableBytes > 0, bytes < FileSending.sliceSize, let answer = desk.answer(&buffer) {
            batch.append(answer)
            if answer.showsRight { standing.show() }
            bytes += answer.bodyBytes
            if !answer.keepsConnection || answer.part != nil { break }
        }
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return batch
    }

    /// A proxy's requests are each of somebody else, who may have a share of their own.
    private func admitted(_ batch: [PreparedAnswer]) -> [PreparedAnswer] {
        guard let last = batch.last, let context,
            let asker = server.asker(by: group, at: remoteAddress, last.head.headers),
            !server.connections.ask(place, for: asker)
        else { return batch }
        server.losses.add(.refused, of: asker, on: context.eventLoop)
        return batch.dropLast() + [desk.refusal(.tooManyConnections, to: last.head)]
    }

    /// The answers are with the kernel, or never will be.
    func didWrite(keepsConnection: Bool) {
        guard turn == .writing, let context else { return }
        guard server.connections.end(place, standing), keepsConnection else { return linger(context) }
        turn = .ours
        answer()
        readAgain()
    }

    private func readAgain() {
        guard isReadHeldBack, let context else { return }
        isReadHeldBack = false
        context.read()
    }

    /// Half-closes and waits for the client's end, as ``Connection`` does.
    private func linger(_ context: ChannelHandlerContext) {
        turn = .ending
        buffer = ByteBuffer()
        guard !hasInputEnded else { return context.close(promise: nil) }
        let channel = context.channel
        context.eventLoop.scheduleTask(in: TimeAmount(Deadline.lingering)) { channel.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        readAgain()
    }

    // MARK: - The other's turn

    private func handOver(_ context: ChannelHandlerContext) {
        guard isAttached else {
            turn = .handingOver
            let front = NIOLoopBound(self, eventLoop: context.eventLoop)
            let handover = Handover(
                channel: context.channel,
                front: front,
                place: place,
                group: group,
                standing: standing
            )
            if !server.handOver(handover) { context.close(promise: nil) }
            return
        }
        forward(context)
    }

    /// Gives the turn to what stands behind from now on, with everything that was not answered.
    ///
    /// - Returns: the way in for the task that serves it.
    func attach() throws -> Client {
        guard turn == .handingOver, let context, context.channel.isActive else { throw ChannelError.ioOnClosedChannel }
        let channel = context.channel
        let end = ClientEnd()
        try channel.pipeline.syncOperations.addHandlers([end, ReaderWake()])
        let bytes = try NIOAsyncChannel<ByteBuffer, Never>(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
        )
        isAttached = true
        forward(context)
        readAgain()
        return Client(bytes: bytes, end: end)
    }

    private func forward(_ context: ChannelHandlerContext) {
        let bytes = buffer
        buffer = ByteBuffer()
        turn = .theirs
        forwarded += bytes.readableBytes
        context.fireChannelRead(wrapInboundOut(bytes))
        context.fireChannelReadComplete()
        tellEnd(context)
    }

    private func tellEnd(_ context: ChannelHandlerContext) {
        guard hasInputEnded, !hasToldEnd else { return }
        hasToldEnd = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    /// ``Connection`` has answered all that it got; in vain if more is on its way to it.
    ///
    /// - Parameter received: all bytes that it ever got.
    func takeBack(after received: Int) {
        guard turn == .theirs, forwarded == received else { return }
        turn = .ours
        idleSince = .now()
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

    /// How long to sleep before the next look at a client that was idle for some time; nil when that was too long.
    static func rest(of limit: TimeAmount, afterIdle idle: TimeAmount) -> TimeAmount? {
        idle < limit ? limit - idle : nil
    }

    /// One task for many requests: it looks when it is due, and sleeps on.
    private func watchIdleness(in time: TimeAmount, _ context: ChannelHandlerContext) {
        idleTask = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [unowned self] in
            let idle = turn == .ours ? NIODeadline.now() - idleSince : .zero
            guard let rest = Self.rest(of: TimeAmount(server.configuration.idleTimeout), afterIdle: idle) else {
                return context.close(promise: nil)
            }
            watchIdleness(in: rest, context)
        }
    }
}

/// A connection whose next request is ``Connection``'s.
struct Handover: Sendable {
    let channel: any Channel
    let front: NIOLoopBound<ConnectionFront>
    let place: Connections.Place
    let group: ClientGroup
    let standing: Standing

    /// - Throws: when the client is gone.
    func attach() async throws -> Client {
        try await channel.eventLoop.submit { try front.value.attach() }.get()
    }

    /// See ``ConnectionFront/takeBack(after:)``.
    func giveBack(after received: Int) {
        channel.eventLoop.execute { front.value.takeBack(after: received) }
    }
}

/// A client as a task has it.
struct Client: Sendable {
    let bytes: NIOAsyncChannel<ByteBuffer, Never>
    let end: ClientEnd
}
