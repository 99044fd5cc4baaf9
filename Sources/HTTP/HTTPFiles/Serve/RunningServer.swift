import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// What all connections of one running server share.
struct RunningServer: Sendable {
    let configuration: FileServerConfiguration
    let exchange: Exchange
    let connections: Connections
    let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    let meter: (any TrafficMeter)?
    let losses: LossReport
    /// Where the tasks are that serve what no event loop can answer.
    let handovers: AsyncStream<ConnectionHandover>.Continuation

    /// False when the server has ended.
    func handOver(_ connection: ConnectionHandover) -> Bool {
        if case .enqueued = handovers.yield(connection) { true } else { false }
    }
}

extension RunningServer {
    /// Sets a connection up that was accepted, or refuses it.
    func admit(_ channel: any Channel, _ responders: LoopResponders) throws {
        let group = ClientGroup(channel, configuration.sharing)
        switch connections.admit(channel, of: group) {
        case .admitted(let place, let leaving):
            meter?.connectionOpened()
            channel.closeFuture.whenComplete { _ in
                meter?.connectionClosed()
                connections.remove(place)
            }
            if let leaving { drop(leaving.channel, of: leaving.of) }
            let loop = channel.eventLoop
            try configuration.tls?.current.add(to: channel, handshakeWithin: configuration.headerTimeout) {
                losses.add(.slow, of: group, on: loop)
            }
            let front = ConnectionFront(
                server: self,
                responder: responders.responder(of: loop),
                place: place,
                group: group
            )
            try channel.pipeline.syncOperations.addHandler(front)
        case .full(let answers):
            losses.add(.refused, of: group, on: channel.eventLoop)
            if answers { channel.closeFuture.whenComplete { _ in connections.refusalEnded(channel) } }
            guard configuration.tls == nil else { throw ChannelError.ioOnClosedChannel }
            try channel.pipeline.syncOperations.addHandler(
                Refusal(.tooManyConnections, exchange.source, waits: answers)
            )
        case .stopping:
            throw ChannelError.ioOnClosedChannel
        }
    }

    /// Whom a proxy asks for; nil for a connection that is its client's own.
    func client(by group: ClientGroup, at address: String?, _ headers: HTTPHeaders) -> ClientGroup? {
        guard group == .boundless, case .byAddress(let proxies) = configuration.sharing, !proxies.isEmpty
        else { return nil }
        return .address(ClientName(address, forwarded: headers["X-Forwarded-For"], trusting: proxies))
    }

    /// Whose request the access log says it is: what a trusted proxy says, whole, for a log is to find a device by.
    func address(at address: String?, _ headers: HTTPHeaders?) -> String {
        guard let address else { return "-" }
        guard let headers, case .byAddress(let proxies) = configuration.sharing, !proxies.isEmpty
        else { return address }
        return proxies.client(at: address, forwarded: headers["X-Forwarded-For"])
    }

    /// Ends a connection that made room.
    private func drop(_ channel: any Channel, of group: ClientGroup) {
        losses.add(.room, of: group, on: channel.eventLoop)
        if configuration.tls == nil { channel.close(promise: nil) } else { AbruptEnd.close(channel) }
    }
}

/// The responder of each event loop, made when its first connection comes.
struct LoopResponders: Sendable {
    private let responders = NIOLockedValueBox<[ObjectIdentifier: NIOLoopBound<LoopResponder>]>([:])
    private let make: @Sendable () -> LoopResponder

    /// - Parameter loops: how many share ``FileServerConfiguration/maxRememberedBytes``.
    init(_ exchange: Exchange, _ configuration: FileServerConfiguration, loops: Int) {
        let limit = configuration.maxRememberedBytes / max(1, loops)
        make = { LoopResponder(exchange: exchange, configuration: configuration, limit: limit) }
    }

    /// - Precondition: called on `loop`.
    func responder(of loop: any EventLoop) -> LoopResponder {
        responders.withLockedValue { responders in
            if let responder = responders[ObjectIdentifier(loop)] { return responder.value }
            let responder = make()
            responders[ObjectIdentifier(loop)] = NIOLoopBound(responder, eventLoop: loop)
            return responder
        }
    }
}
