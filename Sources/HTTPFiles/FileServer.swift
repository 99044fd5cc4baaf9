package import NIOCore
import NIOPosix
import ServiceLifecycle
import SystemPackage

/// Serves what a source answers over HTTP/1.1, with TLS or without, until it is stopped.
///
/// Stopping, by graceful shutdown or by cancellation, means: accept nothing more, close what is idle, finish the
/// answers in flight, and after ``FileServerConfiguration/drainTimeout`` close those too.
package struct FileServer: Service {
    private typealias Listener = NIOAsyncChannel<Client, Never>

    private struct Client: Sendable {
        let bytes: NIOAsyncChannel<ByteBuffer, Never>
        let end: ClientEnd

        var channel: any Channel { bytes.channel }
    }

    private let configuration: FileServerConfiguration
    private let exchange: Exchange
    private let accessLog: (@Sendable (AccessLogEntry) -> Void)?
    private let onListening: @Sendable (SocketAddress) -> Void

    /// - Parameters:
    ///   - accessLog: called once for each response, from many threads.
    ///   - errorLog: called with one escaped line when a file is not what the source said.
    ///   - onListening: called once, with the address and the port that clients can connect to from now on.
    package init(
        configuration: FileServerConfiguration,
        source: any FileSource,
        accessLog: (@Sendable (AccessLogEntry) -> Void)? = nil,
        errorLog: (@Sendable (String) -> Void)? = nil,
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.exchange = Exchange(source: source, errorLog: errorLog)
        self.accessLog = accessLog
        self.onListening = onListening
    }

    /// Binds, serves, drains, and returns once no connection is left.
    package func run() async throws(FileServerError) {
        let listener = try await bind()
        let connections = Connections(limit: configuration.maxConnections)
        if let address = listener.channel.localAddress { onListening(address) }

        // Not a child task: cancelling this one must begin the drain, not break the answers in flight.
        let serving = Task { try await serve(listener, connections) }
        let result = await withTaskCancellationOrGracefulShutdownHandler {
            await serving.result
        } onCancelOrGracefulShutdown: {
            connections.stop()
            listener.channel.close(promise: nil)
            listener.channel.eventLoop.scheduleTask(in: TimeAmount(configuration.drainTimeout)) {
                connections.closeAll()
                serving.cancel()
            }
        }
        if case .failure(let error) = result, !connections.isStopping {
            throw .listenerFailed(reason: String(describing: error))
        }
    }

    private func bind() async throws(FileServerError) -> Listener {
        let (host, port) = (configuration.host, configuration.port)
        let (tls, timeout) = (configuration.tls, configuration.headerTimeout)
        do {
            return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                // A client may say that it sends nothing more and still wait for its answers.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .bind(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try tls?.add(to: channel, handshakeWithin: timeout)
                        let end = ClientEnd()
                        try channel.pipeline.syncOperations.addHandlers([end, ReaderWake()])
                        let bytes = try NIOAsyncChannel<ByteBuffer, Never>(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
                        )
                        return Client(bytes: bytes, end: end)
                    }
                }
        } catch let error as IOError where error.errnoCode == Errno.addressInUse.rawValue {
            throw .portInUse(host: host, port: port)
        } catch {
            throw .cannotBind(host: host, port: port, reason: String(describing: error))
        }
    }

    private func serve(_ listener: Listener, _ connections: Connections) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { clients in
                for try await client in clients {
                    group.addTask { await serve(client, connections) }
                }
            }
        }
    }

    private func serve(_ client: Client, _ connections: Connections) async {
        // What a client breaks concerns that client alone, so the error of its closing goes nowhere.
        try? await client.bytes.executeThenClose { inbound in
            switch connections.admit(client.channel) {
            case .admitted:
                defer { connections.remove(client.channel) }
                let responder = Responder(
                    channel: client.channel,
                    client: client.end,
                    configuration: configuration,
                    exchange: exchange,
                    connections: connections,
                    accessLog: accessLog
                )
                var connection = Connection(responder, inbound: inbound)
                await connection.serve()
            case .full where configuration.tls != nil:
                break
            case .full:
                let response = Response(.tooManyConnections)
                var bytes = response.head(keepAlive: false, date: HTTPDate.now)
                if case .bytes(let body) = response.body { bytes.writeBytes(body) }
                try await client.channel.writeAndFlush(bytes)
            case .stopping:
                break
            }
        }
    }
}
