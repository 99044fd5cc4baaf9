import HTTPCore
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// The state that all connections of one running server share.
struct RunningServer: Sendable {
    let configuration: FileServerConfiguration
    let exchange: Exchange
    let connections: Connections
    let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    let meter: (any TrafficMeter)?
    let losses: LossReport
    /// Receives the connections whose requests an event loop cannot answer.
    let handovers: AsyncStream<ConnectionHandover>.Continuation

    /// Hands a connection over to a task.
    ///
    /// Returns false if the server has ended.
    func handOver(_ connection: ConnectionHandover) -> Bool {
        if case .enqueued = handovers.yield(connection) { true } else { false }
    }
}

extension RunningServer {
    /// Sets up an accepted connection, or refuses it.
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
            let log = RefusalLog(accessLog)
            try configuration.tls?.current.add(to: channel, handshakeWithin: configuration.headerTimeout, log) {
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
                Refusal(.tooManyConnections, exchange.source, RefusalLog(accessLog), waits: answers)
            )
        case .stopping:
            throw ChannelError.ioOnClosedChannel
        }
    }

    /// Returns the client that a proxy forwards a request of, or nil for a direct connection.
    func client(by group: ClientGroup, at address: String?, _ headers: HTTPHeaders) -> ClientGroup? {
        guard group == .boundless, case .byAddress(let proxies) = configuration.sharing, !proxies.isEmpty
        else { return nil }
        return .address(ClientName(address, forwarded: headers["X-Forwarded-For"], trusting: proxies))
    }

    /// Returns the client's address for the access log: the full address that a trusted proxy forwards, because a log is used to
    /// find a device.
    func address(at address: String?, _ headers: HTTPHeaders?) -> String {
        guard let address else { return "-" }
        guard let headers, case .byAddress(let proxies) = configuration.sharing, !proxies.isEmpty
        else { return address }
        return proxies.client(at: address, forwarded: headers["X-Forwarded-For"])
    }

    /// Closes a connection that makes room.
    private func drop(_ channel: any Channel, of group: ClientGroup) {
        losses.add(.room, of: group, on: channel.eventLoop)
        closeAtOnce(channel)
    }

    /// Closes a connection without waiting for its client.
    func closeAtOnce(_ channel: any Channel) {
        if configuration.tls == nil { channel.close(promise: nil) } else { AbruptEnd.close(channel) }
    }
}

/// The responder of each event loop, made with its first connection.
struct LoopResponders: Sendable {
    private let responders = NIOLockedValueBox<[ObjectIdentifier: NIOLoopBound<LoopResponder>]>([:])
    private let make: @Sendable () -> LoopResponder

    /// - Parameter loops: The number of loops that share ``FileServerConfiguration/maxRememberedBytes``.
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
