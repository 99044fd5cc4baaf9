import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

extension TLSIdentity {
    /// Adds the handlers of a server's end of TLS.
    ///
    /// - Parameter timeout: how long the handshake may take from the connection's first moment, however lively it drips.
    func add(to channel: any Channel, handshakeWithin timeout: Duration) throws {
        try channel.pipeline.syncOperations.addHandlers([
            PlainTextRefusal(), NIOSSLServerHandler(context: context), HandshakeDeadline(timeout),
        ])
    }
}

/// Tells a client that begins without TLS, in its own language, that this port speaks HTTPS.
///
/// A TLS record that begins a handshake has the type 22 (RFC 8446 §5.1); no HTTP request begins so.
private final class PlainTextRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let handshakeRecord: UInt8 = 22
    private var hasRefused = false

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
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        // Half of it, so that the client can read the answer; its end, or the handshake's deadline, closes the rest.
        context.close(mode: .output, promise: nil)
    }
}

/// Closes a connection whose handshake is not done in time.
private final class HandshakeDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let timeout: Duration
    private var closing: Scheduled<Void>?

    init(_ timeout: Duration) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        closing = context.eventLoop.scheduleTask(in: TimeAmount(timeout)) { channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { closing?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
    }
}
