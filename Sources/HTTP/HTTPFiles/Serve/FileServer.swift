import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import ServiceLifecycle
import SystemPackage

/// Serves a source over HTTP/1.1, with or without TLS, until it is stopped.
///
/// A graceful shutdown or cancellation stops it: it accepts no new connections, closes idle ones, and finishes the answers in
/// flight. After ``FileServerConfiguration/drainTimeout`` it closes those too.
package struct FileServer: Service {
    private let configuration: FileServerConfiguration
    private let exchange: Exchange
    private let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    private let meter: (any TrafficMeter)?
    private let losses: LossReport
    private let onListening: @Sendable (SocketAddress) -> Void

    /// - Parameters:
    ///   - accessLog: Called once for each response, from many threads.
    ///   - meter: Counts each connection and response.
    ///   - turnedAway: Counts clients that found no room.
    ///   - errorLog: Called with one escaped line when a file is not the one that the source named, and, at most once a minute,
    ///     when connections were refused or dropped.
    ///   - onListening: Called once with the address and the port, when connections are accepted.
    package init(
        configuration: FileServerConfiguration,
        source: any FileSource,
        accessLog: (@Sendable (AccessLogEntry) -> Void)? = nil,
        meter: (any TrafficMeter)? = nil,
        turnedAway: TurnedAway? = nil,
        errorLog: (@Sendable (String) -> Void)? = nil,
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.exchange = Exchange(source: source, dialect: configuration.dialect, errorLog: errorLog)
        self.accessLog = accessLog
        self.meter = meter
        losses = LossReport(meter: meter, turnedAway: turnedAway, log: errorLog)
        self.onListening = onListening
    }

    /// Binds, serves, drains, and returns once all connections have ended.
    package func run() async throws(FileServerError) {
        let (handovers, continuation) = AsyncStream.makeStream(of: ConnectionHandover.self)
        let wanted = configuration.maxConnections
        let descriptors = DescriptorLimit.raised(to: 4 * wanted)
        let server = RunningServer(
            configuration: configuration,
            exchange: exchange,
            connections: Connections(capacityRule(limit: DescriptorLimit.connections(atMost: wanted, of: descriptors))),
            accessLog: accessLog,
            meter: meter,
            losses: losses,
            handovers: continuation
        )
        let listener = try await bind(server)
        if let address = listener.localAddress { onListening(address) }

        // A separate task, because cancelling this one must begin the drain instead of breaking the answers in flight.
        let serving = Task { await Self.serve(handovers, of: server) }
        let drained = NIOLockedValueBox<Scheduled<Void>?>(nil)
        let failure = await withTaskCancellationOrGracefulShutdownHandler {
            let failure = await Self.end(of: listener, server)
            continuation.finish()
            await serving.value
            return failure
        } onCancelOrGracefulShutdown: {
            server.connections.stop()
            listener.close(promise: nil)
            let deadline = listener.eventLoop.scheduleTask(in: TimeAmount(configuration.drainTimeout)) {
                server.connections.closeAll(server.closeAtOnce)
                serving.cancel()
            }
            drained.withLockedValue { $0 = deadline }
        }
        drained.withLockedValue { $0?.cancel() }
        if let failure { throw failure }
    }

    private func capacityRule(limit: Int) -> CapacityRule {
        var rule = CapacityRule(limit: limit)
        if case .byUser(let strangers) = configuration.sharing { rule.strangers = strangers }
        return rule
    }

    /// Waits until the listener and every connection have ended.
    ///
    /// Returns an error if the listener ended by itself.
    private static func end(of listener: any Channel, _ server: RunningServer) async -> FileServerError? {
        var failure: FileServerError?
        do {
            try await listener.closeFuture.get()
            if !server.connections.isStopping { failure = .listenerClosed }
        } catch {
            failure = .listenerFailed(reason: String(describing: error))
        }
        if failure != nil {
            server.connections.stop()
            server.connections.closeAll(server.closeAtOnce)
        }
        await server.connections.ended(on: listener.eventLoop)
        return failure
    }

    private func bind(_ server: RunningServer) async throws(FileServerError) -> any Channel {
        let (host, port) = (configuration.host, configuration.port)
        let loops = MultiThreadedEventLoopGroup.singleton
        let responders = LoopResponders(exchange, configuration, loops: Array(loops.makeIterator()).count)
        do {
            let bootstrap = ServerBootstrap(group: loops)
                // When a flood fills the queue, every other client waits a second before its next try. Accepted connections find or
                // make a place at once, so both values are generous. The system caps the first.
                .serverChannelOption(.backlog, value: 4096)
                .serverChannelOption(.maxMessagesPerRead, value: 64)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let backoff = AcceptBackoffHandler(shouldForwardIOErrorCaught: false)
                        try channel.pipeline.syncOperations.addHandler(backoff)
                    }
                }
                // A client may end its sending side and still wait for answers.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try server.admit(channel, responders) }
                }
            if let socket = configuration.socket { return try await bootstrap.withBoundSocket(socket).get() }
            return try await bootstrap.bind(host: host, port: port).get()
        } catch let error as IOError where error.errnoCode == Errno.addressInUse.rawValue {
            throw .portInUse(host: host, port: port)
        } catch let error as IOError {
            throw .cannotBind(host: host, port: port, reason: "\(Errno(rawValue: error.errnoCode))")
        } catch {
            throw .cannotBind(host: host, port: port, reason: String(describing: error))
        }
    }

    /// Serves the connections that event loops hand over, each in a task of its own.
    private static func serve(_ handovers: AsyncStream<ConnectionHandover>, of server: RunningServer) async {
        await withDiscardingTaskGroup { group in
            for await handover in handovers {
                group.addTask(executorPreference: LoopExecutor(handover.channel.eventLoop)) {
                    // A broken connection concerns only its client, so the error of closing it is dropped.
                    guard let client = try? await handover.attach() else { return }
                    try? await client.input.executeThenClose { inbound in
                        let responder = Responder(handover, client: client.end, of: server)
                        var connection = Connection(handover, responder, inbound: inbound)
                        await connection.serve()
                    }
                }
            }
        }
    }
}
