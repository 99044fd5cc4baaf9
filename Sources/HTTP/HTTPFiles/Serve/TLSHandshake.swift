import HTTPCore
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

extension TLSIdentity {
    /// Adds the handlers for a server's TLS.
    ///
    /// - Parameters:
    ///   - timeout: How long the handshake may take from the moment the client connects, however often bytes arrive.
    ///   - onTimeout: Called on the channel's event loop if it took longer.
    func add(
        to channel: any Channel,
        handshakeWithin timeout: Duration,
        _ log: RefusalLog,
        onTimeout: @escaping () -> Void
    ) throws {
        try channel.pipeline.syncOperations.addHandlers([
            AbruptEnd(), PlainTextRefusal(log), NIOSSLServerHandler(context: context),
            HandshakeDeadline(timeout, onTimeout),
        ])
    }
}

/// Closes a connection without a TLS shutdown, for which the client would have five seconds.
final class AbruptEnd: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private struct Event: Sendable {}

    static func close(_ channel: any Channel) {
        channel.triggerUserOutboundEvent(Event(), promise: nil)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.close(promise: promise)
    }
}

/// Informs a client that connects without TLS, by a plain HTTP response, that this port speaks HTTPS.
///
/// A TLS record that begins a handshake has the type 22 (RFC 8446 §5.1). An HTTP request cannot begin with that byte.
private final class PlainTextRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let handshakeRecord: UInt8 = 22
    private let log: RefusalLog
    private var hasRefused = false

    init(_ log: RefusalLog) {
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard !hasRefused, let first = bytes.readableBytesView.first else { return }
        guard first != Self.handshakeRecord else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            return
        }
        hasRefused = true
        let response = Response(refusing: .badRequest, message: "This port speaks HTTPS.")
        var answer = response.head(keepAlive: false, date: HTTPDate.now)
        if case .bytes(let body) = response.body { answer.writeBytes(body) }
        let sent = context.writeAndFlush(wrapOutboundOut(answer))
        log.note(response, to: context.channel, when: sent)
        // Only the output is closed, so that the client can read the answer. Its end, or the handshake's deadline, closes the rest.
        context.close(mode: .output, promise: nil)
    }
}

/// Closes a connection whose handshake is not completed in time.
private final class HandshakeDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let timeout: Duration
    private let onTimeout: () -> Void
    private var closing: Scheduled<Void>?

    init(_ timeout: Duration, _ onTimeout: @escaping () -> Void) {
        (self.timeout, self.onTimeout) = (timeout, onTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let (channel, onTimeout) = (context.channel, onTimeout)
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            onTimeout()
            channel.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { closing?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
    }
}
