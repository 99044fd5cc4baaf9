import NIOConcurrencyHelpers
package import NIOCore
package import NIOHTTP1

/// Admits connections to a server that is not ``FileServer`` as that does: places, TLS, draining, and the access log.
package struct ConnectionAdmission: Sendable {
    package let configuration: FileServerConfiguration
    fileprivate let connections: Connections
    fileprivate let losses: LossReport
    private let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    private let meter: (any TrafficMeter)?

    /// - Parameters: as ``FileServer`` has them.
    package init(
        _ configuration: FileServerConfiguration,
        accessLog: (@Sendable (AccessLogEntry) -> Void)? = nil,
        meter: (any TrafficMeter)? = nil,
        errorLog: (@Sendable (String) -> Void)? = nil
    ) {
        self.configuration = configuration
        let wanted = configuration.maxConnections
        let descriptors = DescriptorLimit.raised(to: 4 * wanted)
        let limit = DescriptorLimit.connections(atMost: wanted, of: descriptors)
        connections = Connections(RoomRule(limit: limit))
        self.accessLog = accessLog
        self.meter = meter
        losses = LossReport(meter: meter, turnedAway: nil, log: errorLog)
    }

    /// Gives a connection its place and its TLS handler, on its event loop and before any other handler.
    ///
    /// - Throws: when there is neither a place for it nor the time to refuse it.
    package func admit(_ channel: any Channel) throws -> AdmittedConnection {
        let group = ClientGroup(channel, configuration.sharing)
        let loop = channel.eventLoop
        switch connections.admit(channel, of: group) {
        case .admitted(let place, let leaving):
            meter?.connectionOpened()
            channel.closeFuture.whenComplete { [connections, meter] _ in
                meter?.connectionClosed()
                connections.remove(place)
            }
            if let leaving {
                losses.add(.room, of: leaving.of, on: loop)
                AbruptEnd.close(leaving.channel)
            }
            if let tls = configuration.tls {
                try tls.current.add(to: channel, handshakeWithin: configuration.headerTimeout) { [losses] in
                    losses.add(.slow, of: group, on: loop)
                }
            } else {
                try channel.pipeline.syncOperations.addHandler(AbruptEnd())
            }
            return AdmittedConnection(self, channel, place, group)
        case .full(let answers):
            losses.add(.refused, of: group, on: loop)
            if answers { channel.closeFuture.whenComplete { [connections] _ in connections.refusalEnded(channel) } }
            guard answers, configuration.tls == nil else { throw ChannelError.ioOnClosedChannel }
            try channel.pipeline.syncOperations.addHandler(AbruptEnd())
            return AdmittedConnection(self, channel, .none, group)
        case .stopping:
            throw ChannelError.ioOnClosedChannel
        }
    }

    package var isStopping: Bool { connections.isStopping }

    /// Takes no new connections and closes waiting ones; answers in flight are finished.
    package func stop() { connections.stop() }

    /// The time for that is over.
    package func closeAll() { connections.closeAll(AbruptEnd.close) }

    fileprivate func log(_ answered: AdmittedConnection.Answered, from address: String?) {
        let duration = answered.since.duration(to: .now)
        let (target, status) = (answered.request?.uri ?? "-", Int(answered.status.code))
        meter?.answered(target, status: status, bodyBytes: answered.bodyBytes, in: duration)
        accessLog?(
            AccessLogEntry(
                method: answered.request?.method.rawValue ?? "-",
                target: target,
                status: status,
                bodyBytes: answered.bodyBytes,
                duration: duration,
                remoteAddress: self.address(at: address, answered.request?.headers),
                userAgent: answered.request?.headers.first(name: "User-Agent")
            )
        )
    }

    private func address(at address: String?, _ headers: HTTPHeaders?) -> String {
        guard let address else { return "-" }
        guard let headers, case .byAddress(let proxies) = configuration.sharing else { return address }
        return proxies.client(at: address, forwarded: headers["X-Forwarded-For"])
    }

    /// The client that a proxy asks for; nil for a connection of the client itself.
    fileprivate func client(by group: ClientGroup, at address: String?, _ headers: HTTPHeaders) -> ClientGroup? {
        guard group == .boundless, case .byAddress(let proxies) = configuration.sharing, !proxies.isEmpty
        else { return nil }
        return .address(ClientName(address, forwarded: headers["X-Forwarded-For"], trusting: proxies))
    }
}

/// One connection that a ``ConnectionAdmission`` let in: its place, and the client whose request it carries.
package final class AdmittedConnection: Sendable {
    /// A request and how it was answered.
    package struct Answered: Sendable {
        /// Nil where none could be read.
        let request: HTTPRequestHead?
        let status: HTTPResponseStatus
        let bodyBytes: Int
        let since: ContinuousClock.Instant

        package init(
            _ request: HTTPRequestHead?,
            _ status: HTTPResponseStatus,
            bodyBytes: Int,
            since: ContinuousClock.Instant
        ) {
            (self.request, self.status, self.bodyBytes, self.since) = (request, status, bodyBytes, since)
        }
    }

    package let admission: ConnectionAdmission
    /// The client's address, without its port.
    package let remoteAddress: String?
    private let loop: any EventLoop
    private let place: Connections.Place
    private let group: ClientGroup
    private let current = NIOLockedValueBox<(right: ShownRight, head: CheckedHead?)>((ShownRight(), nil))

    fileprivate init(
        _ admission: ConnectionAdmission,
        _ channel: any Channel,
        _ place: Connections.Place,
        _ group: ClientGroup
    ) {
        (self.admission, self.place, self.group) = (admission, place, group)
        (loop, remoteAddress) = (channel.eventLoop, channel.remoteAddress?.ipAddress)
    }

    /// Whether it got no place, and is to be refused.
    package var isRefused: Bool { place == .none }

    /// Of the client whose request is answered.
    package var right: ShownRight { current.withLockedValue(\.right) }

    /// Of the request that is answered.
    package var head: CheckedHead? { current.withLockedValue(\.head) }

    /// Registers a request whose head is here.
    ///
    /// - Returns: false when it is too late to answer it.
    /// - Throws: `tooManyConnections` when a proxy asks for a client that has a full share.
    package func begins(_ head: CheckedHead) throws(RequestFault) -> Bool {
        guard admission.connections.begin(place, right) else { return false }
        current.withLockedValue { $0.head = head }
        guard let client = admission.client(by: group, at: remoteAddress, head.headers) else { return true }
        // A proxy's requests come from different clients, each with a right of their own.
        current.withLockedValue { $0.right = ShownRight() }
        guard admission.connections.ask(place, for: client) else {
            admission.losses.add(.refused, of: client, on: loop)
            throw .tooManyConnections
        }
        return true
    }

    /// More of its body is awaited.
    package func awaitsMore() { admission.connections.awaitsMore(place, right) }

    /// Its body is complete, or the rest is not wanted.
    package func answers() { admission.connections.answers(place, right) }

    /// - Returns: false when the connection ends with this answer, because the server stops.
    package func ends(_ answered: Answered) -> Bool {
        admission.log(answered, from: remoteAddress)
        return admission.connections.end(place, right)
    }

    /// It was closed for falling behind the least rate.
    package func fellBehind() { admission.losses.add(.slow, of: group, on: loop) }
}
