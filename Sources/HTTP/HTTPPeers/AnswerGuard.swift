package import NIOCore
package import NIOHTTP1
import NIOSSL

/// Sits between a connection's HTTP decoder and the HTTP client, so that no answer of a server can end the process.
///
/// async-http-client 1.37.0 traps in two places that a server's bytes and timing reach; each has a test that fails once
/// a later version no longer traps there (`UpstreamFaultTests`), and its part here can then go:
/// 1. A status below 100. `HTTPRequestStateMachine.receivedHTTPResponseHead` passes over every head below 200, and the
///    decoder ends such a message like any other, so that its end comes to a `preconditionFailure`.
/// 2. An answer that is whole before its request is, over a channel that takes no more. When the rest of the request is
///    flushed, the pool starts the next request within the flush; the channel's news that it is writable again comes to
///    that request's write timeout, which thought so from the start: `preconditionFailure`.
///
/// The guard makes an error of the first before the client sees it, and prevents the second: the client learns a turn
/// of the event loop later that its request was sent.
///
/// It also checks the certificate's name of a server over TLS, before the first byte of a request is written
/// (``ServerName``).
package final class AnswerGuard: ChannelDuplexHandler {
    package typealias InboundIn = HTTPClientResponsePart
    package typealias InboundOut = HTTPClientResponsePart
    package typealias OutboundIn = HTTPClientRequestPart
    package typealias OutboundOut = HTTPClientRequestPart

    /// A field that never leaves: its value is the request's target, byte for byte, in place of the URL's path and query.
    package static let targetField = "Patchline-Request-Target"

    private var order = AnswerOrder()
    private var isNameRight = false
    /// Nothing passes any more, either way.
    private var isOver = false

    /// Puts one on a connection of async-http-client; for `http1_1ConnectionDebugInitializer`, which runs on the
    /// connection's event loop, with TLS after its handshake, and before any request.
    ///
    /// - Parameter check: any further check before the first request.
    package static func stand(
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
            // Later than the failure: the client's pool must hear of that first.
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

    /// After bytes that are not HTTP the decoder reads nothing any more: such a connection must not wait for another
    /// request.
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
            order.asks()
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
        // Without TLS there is no such handler.
        if let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() {
            try ServerName(authority: head.headers.first(name: "host") ?? "").check(certificate)
        }
        isNameRight = true
    }

    private static func nextTurn(_ promise: EventLoopPromise<Void>, _ channel: any Channel) -> EventLoopPromise<Void> {
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { result in
            channel.eventLoop.execute {
                // The pool has let go of a connection that was closed meanwhile, and must not hear that it is free.
                guard channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
                promise.completeWith(result)
            }
        }
        return written
    }
}

@available(*, unavailable)
extension AnswerGuard: Sendable {}
