package import NIOCore
package import NIOHTTP1
import NIOSSL

/// A handler between a connection's HTTP decoder and the HTTP client.
///
/// It ensures that no answer of a server can end the process.
///
/// async-http-client 1.37.0 traps in two places that depend on a server's bytes and timing. Each has a test that fails once a later
/// version no longer traps there (`UpstreamFaultTests`). Then its part of the guard can be removed:
/// 1. A status below 100. `HTTPRequestStateMachine.receivedHTTPResponseHead` skips every head below 200, and the decoder ends such
///    a message like any other, so its end reaches a `preconditionFailure`.
/// 2. An answer that is complete before its request is, on a channel that is not writable. When the rest of the request is flushed,
///    the pool starts the next request within the flush. The notice that the channel is writable again then reaches the write
///    timeout of that request, which assumed a writable channel from the start: `preconditionFailure`.
///
/// For the first, the guard reports an error before the client sees the head. It prevents the second: the client is notified one
/// turn of the event loop later that its request was sent.
///
/// It also checks the certificate's name of a server over TLS, before the first byte of a request is written
/// (``ServerName``).
package final class AnswerGuard: ChannelDuplexHandler {
    package typealias InboundIn = HTTPClientResponsePart
    package typealias InboundOut = HTTPClientResponsePart
    package typealias OutboundIn = HTTPClientRequestPart
    package typealias OutboundOut = HTTPClientRequestPart

    /// An internal field that is never sent.
    ///
    /// Its value is the request's target, byte for byte, and replaces the URL's path and query.
    package static let targetField = "Patchline-Request-Target"

    private var order = AnswerOrder()
    private var isNameRight = false
    /// Whether the connection is over.
    ///
    /// Then nothing passes in either direction.
    private var isOver = false

    /// Adds a guard to a connection of async-http-client.
    ///
    /// Called from `http1_1ConnectionDebugInitializer`, which runs on the connection's event loop before any request, and with TLS
    /// after its handshake.
    ///
    /// - Parameter check: A further check before the first request.
    package static func install(
        on channel: any Channel,
        _ check: (any Channel) throws -> Void = { _ in }
    ) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(AnswerGuard(), position: .after(decoder))
            try check(channel)
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            // Closed after the failure is reported, because the client's pool must receive the failure first.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        do throws(AnswerFault) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                guard TransferCodingError.isReadable(head.headers) else {
                    return end(context, because: TransferCodingError())
                }
                try order.takes(.head(status: Int(head.status.code)))
            case .body: try order.takes(.body)
            case .end: try order.takes(.end)
            }
        } catch { return end(context, because: error) }
        context.fireChannelRead(data)
    }

    /// Closes the connection after bytes that are not HTTP.
    ///
    /// The decoder reads nothing more, so the connection must not wait for another request.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError || error is NIOHTTPDecoderError else { return context.fireErrorCaught(error) }
        end(context, because: error)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if let target = head.headers.first(name: Self.targetField) {
                head.headers.remove(name: Self.targetField)
                head.uri = target
            }
            do throws(ServerNameError) { try look(at: head, context) } catch {
                promise?.fail(error)
                return end(context, because: error)
            }
            order.requestSent()
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end: context.write(data, promise: promise.map { Self.nextTurn($0, context.channel) })
        }
    }

    private func end(_ context: ChannelHandlerContext, because error: any Error) {
        guard !isOver else { return }
        isOver = true
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func look(at head: HTTPRequestHead, _ context: ChannelHandlerContext) throws(ServerNameError) {
        guard !isNameRight else { return }
        // Without TLS, there is no such handler.
        if let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() {
            try ServerName(authority: head.headers.first(name: "host") ?? "").check(certificate)
        }
        isNameRight = true
    }

    private static func nextTurn(_ promise: EventLoopPromise<Void>, _ channel: any Channel) -> EventLoopPromise<Void> {
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { result in
            channel.eventLoop.execute {
                // The pool has dropped a connection that was closed meanwhile, so it must not be notified that the connection is
                // free.
                guard channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
                promise.completeWith(result)
            }
        }
        return written
    }
}

@available(*, unavailable)
extension AnswerGuard: Sendable {}
