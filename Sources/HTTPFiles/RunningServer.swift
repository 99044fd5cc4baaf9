import NIOConcurrencyHelpers
import NIOCore

/// What all connections of one running server share.
struct RunningServer: Sendable {
    let configuration: FileServerConfiguration
    let exchange: Exchange
    let connections: Connections
    let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    let meter: (any TrafficMeter)?
    /// Where the tasks are that serve what no event loop can answer.
    let handovers: AsyncStream<Handover>.Continuation

    /// False when the server has ended.
    func handOver(_ connection: Handover) -> Bool {
        if case .enqueued = handovers.yield(connection) { true } else { false }
    }
}

extension RunningServer {
    /// Sets a connection up that was accepted, or refuses it.
    func admit(_ channel: any Channel, _ desks: AnswerDesks) throws {
        let admission = connections.admit(channel)
        if admission == .full { meter?.connectionRefused() }
        switch admission {
        case .admitted:
            meter?.connectionOpened()
            channel.closeFuture.whenComplete { _ in
                meter?.connectionClosed()
                connections.remove(channel)
            }
            try configuration.tls?.current.add(to: channel, handshakeWithin: configuration.headerTimeout)
            let front = ConnectionFront(server: self, desk: desks.desk(of: channel.eventLoop))
            try channel.pipeline.syncOperations.addHandler(front)
        case .full where configuration.tls == nil:
            try channel.pipeline.syncOperations.addHandler(Refusal(.tooManyConnections, exchange.source))
        case .full, .stopping:
            throw ChannelError.ioOnClosedChannel
        }
    }
}

/// Answers a connection that is not served, and closes it.
private final class Refusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = IOData

    private let response: Response

    init(_ fault: RequestFault, _ source: any FileSource) {
        response = Response(fault).completed(by: source, to: nil)
    }

    func channelActive(context: ChannelHandlerContext) {
        var bytes = response.head(keepAlive: false, date: HTTPDate.now)
        if case .bytes(let body) = response.body { bytes.writeBytes(body) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes))).whenComplete { _ in channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

/// The desk of each event loop, made when its first connection comes.
struct AnswerDesks: Sendable {
    private let desks = NIOLockedValueBox<[ObjectIdentifier: NIOLoopBound<AnswerDesk>]>([:])
    private let make: @Sendable () -> AnswerDesk

    /// - Parameter loops: how many share ``FileServerConfiguration/maxRememberedBytes``.
    init(_ exchange: Exchange, _ configuration: FileServerConfiguration, loops: Int) {
        let limit = configuration.maxRememberedBytes / max(1, loops)
        make = { AnswerDesk(exchange: exchange, configuration: configuration, limit: limit) }
    }

    /// - Precondition: called on `loop`.
    func desk(of loop: any EventLoop) -> AnswerDesk {
        desks.withLockedValue { desks in
            if let desk = desks[ObjectIdentifier(loop)] { return desk.value }
            let desk = make()
            desks[ObjectIdentifier(loop)] = NIOLoopBound(desk, eventLoop: loop)
            return desk
        }
    }
}
