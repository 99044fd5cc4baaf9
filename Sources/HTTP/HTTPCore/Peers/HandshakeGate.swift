package import NIOCore
import NIOSSL
import NIOTLS

/// Blocks all data on a connection until its handshake is complete and the certificate matches the server's name.
///
/// It is the handler directly behind the TLS handler, for clients that make their own connections.
package final class HandshakeGate: ChannelInboundHandler {
    package typealias InboundIn = NIOAny
    package typealias InboundOut = NIOAny

    private let name: ServerName

    package init(_ name: ServerName) {
        self.name = name
    }

    /// Held back: the handlers behind this one would begin to send.
    package func channelActive(context: ChannelHandlerContext) {}

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        do {
            guard let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate() else {
                throw ServerNameError(host: name.host)
            }
            try name.check(certificate)
        } catch {
            context.fireErrorCaught(error)
            return context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
        context.fireChannelActive()
    }
}

@available(*, unavailable)
extension HandshakeGate: Sendable {}
