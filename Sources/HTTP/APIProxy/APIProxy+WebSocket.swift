import HTTPFiles
import HTTPCore
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PatchFetch

extension APIProxy {
    /// Requests a WebSocket with the client's own handshake, and carries bytes once the upstream agrees.
    ///
    /// Any other answer is passed on unchanged.
    func openTunnel(to upstream: Upstream, _ request: FileRequest, by rule: ProxyRule) async throws(UpstreamFault)
        -> FileAnswer
    {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: rule.target(of: request, at: upstream))
        head.headers = asks(request, of: upstream)
        let trust = upstream.isSecure ? settings.trust : nil
        switch try await UpgradedUpstream.open(upstream, head, trust, settings.connectTimeout, settings.timeout) {
        case .upgraded(let response, let connection):
            var headers = fields(response.headers, of: upstream, by: rule)
            headers.add(name: "Upgrade", value: "websocket")
            return .tunnel(ServedTunnel(headers: headers) { client in await connection.carry(for: client) })
        case .refused(let connection):
            return try await connection.answer(within: settings.timeout) { fields($0, of: upstream, by: rule) }
        }
    }
}

/// The upstream's response to an upgrade request.
enum UpgradedUpstream: Sendable {
    case upgraded(HTTPResponseHead, RawUpstream)
    case refused(RefusingUpstream)

    static func open(
        _ upstream: Upstream,
        _ head: HTTPRequestHead,
        _ trust: TLSTrust?,
        _ connectTimeout: Duration,
        _ timeout: Duration
    ) async throws(UpstreamFault) -> UpgradedUpstream {
        let upgrade: EventLoopFuture<UpgradedUpstream>
        do {
            let context = try trust.map { try NIOSSLContext(configuration: $0.configuration) }
            upgrade = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(TimeAmount(connectTimeout))
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .connect(host: upstream.host, port: upstream.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let context { try addTLS(context, upstream, to: channel) }
                        return try addUpgrade(head, to: channel, within: timeout)
                    }
                }
        } catch { throw UpstreamFault(error) }
        do { return try await upgrade.get() } catch { throw UpstreamFault(error) }
    }

    private static func addTLS(_ context: NIOSSLContext, _ upstream: Upstream, to channel: any Channel) throws {
        let isAddress = (try? SocketAddress(ipAddress: upstream.host, port: upstream.port)) != nil
        let name = isAddress ? nil : upstream.host
        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
        try channel.pipeline.syncOperations.addHandler(HandshakeGate(ServerName(host: upstream.host)))
    }

    private static func addUpgrade(
        _ head: HTTPRequestHead,
        to channel: any Channel,
        within timeout: Duration
    ) throws -> EventLoopFuture<UpgradedUpstream> {
        let configuration = NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: head,
            upgraders: [WebSocketUpgrade()],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture { .refused(try RefusingUpstream(channel)) }
            }
        )
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
        // An upstream's first frame may arrive in one packet with its 101.
        pipeline.leftOverBytesStrategy = .forwardBytes
        let result = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
        let failed = channel.eventLoop.makePromise(of: UpgradedUpstream.self)
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            failed.fail(UpstreamFault.timedOut)
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in failed.fail(UpstreamFault.closed) }
        result.whenComplete { outcome in
            deadline.cancel()
            failed.completeWith(outcome)
            // An answer that is neither a switch nor a refusal has no owner that would close the channel.
            if case .failure = outcome { channel.close(promise: nil) }
        }
        return failed.futureResult
    }
}

private struct WebSocketUpgrade: NIOTypedHTTPClientProtocolUpgrader {
    typealias UpgradeResult = UpgradedUpstream

    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []

    func addCustom(upgradeRequestHeaders: inout HTTPHeaders) {}

    func shouldAllowUpgrade(upgradeResponse: HTTPResponseHead) -> Bool { true }

    func upgrade(
        channel: any Channel,
        upgradeResponse: HTTPResponseHead
    ) -> EventLoopFuture<UpgradedUpstream> {
        channel.eventLoop.makeCompletedFuture { .upgraded(upgradeResponse, try RawUpstream(channel)) }
    }
}

/// A connection to an upstream that carries raw bytes.
///
/// It is closed with the last reference to it.
final class RawUpstream: Sendable {
    private let bytes: NIOAsyncChannel<ByteBuffer, Never>

    init(_ channel: any Channel) throws {
        bytes = try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
        )
    }

    deinit { bytes.channel.close(promise: nil) }

    /// Carries bytes until either end closes.
    ///
    /// A WebSocket announces its end in its own frames first.
    func carry(for client: TunnelClient) async {
        let channel = bytes.channel
        try? await bytes.executeThenClose { inbound in
            await withTaskCancellationHandler {
                await withTaskGroup { group in
                    group.addTask {
                        while let piece = try? await client.next() {
                            guard (try? await channel.writeAndFlush(piece)) != nil else { return }
                        }
                    }
                    group.addTask { try? await Self.send(inbound, to: client) }
                    await group.next()
                    // Closing is the only way to end a write that waits for this upstream.
                    channel.close(promise: nil)
                    group.cancelAll()
                }
            } onCancel: {
                channel.close(promise: nil)
            }
        }
    }

    private static func send(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, to client: TunnelClient) async throws
    {
        for try await piece in inbound { try await client.write(piece) }
    }
}

/// A connection to an upstream that did not switch protocols.
///
/// It is closed with the last reference to it.
final class RefusingUpstream: Sendable {
    private let parts: NIOAsyncChannel<HTTPClientResponsePart, Never>

    init(_ channel: any Channel) throws {
        parts = try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
        )
    }

    deinit { parts.channel.close(promise: nil) }

    /// Reads the upstream's whole answer, which must be small and arrive in time.
    func answer(
        within limit: Duration,
        _ fields: (HTTPHeaders) -> HTTPHeaders
    ) async throws(UpstreamFault) -> FileAnswer {
        let (channel, hasExpired) = (parts.channel, NIOLockedValueBox(false))
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            hasExpired.withLockedValue { $0 = true }
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        do {
            return try await parts.executeThenClose { inbound in
                var (head, body, isWhole) = (HTTPResponseHead?.none, ByteBuffer(), false)
                for try await part in inbound {
                    switch part {
                    case .head(let first): head = first
                    case .body(let bytes): body.writeImmutableBuffer(bytes)
                    case .end: isWhole = true
                    }
                    if isWhole { break }
                    guard body.readableBytes <= Self.maxBodyBytes else { throw UpstreamFault.malformed }
                }
                guard isWhole, let head else { throw UpstreamFault.closed }
                guard head.status.code >= 200 else {
                    throw UpstreamFault.answer(.status(Int(head.status.code)))
                }
                let whole = body
                return .stream(
                    ServedStream(status: head.status, headers: fields(head.headers), length: whole.readableBytes) {
                        try await $0(whole)
                    }
                )
            }
        } catch { throw hasExpired.withLockedValue(\.self) ? .timedOut : UpstreamFault(error) }
    }

    private static let maxBodyBytes = 1024 * 1024
}
