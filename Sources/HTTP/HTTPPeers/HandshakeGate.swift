package import NIOCore
import NIOSSL
import NIOTLS

/// Lets nobody speak over a connection before its handshake is done and the certificate names the server.
///
/// Stands right behind the TLS handler of a client that makes its connections itself.
package final class HandshakeGate: ChannelInboundHandler {
    package typealias InboundIn = NIOAny
    package typealias InboundOut = NIOAny

    private let name: ServerName

    package init(_ name: ServerName) {
        self.name = name
    }

    /// Not yet: who waits for it would begin to speak.
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
