import HTTPCore
import NIOCore

/// Answers a connection that is refused, and closes it.
///
/// The output is closed first. Closing the whole connection with unread bytes would reset it, and the reset would drop the answer.
final class Refusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = IOData

    private let response: Response
    private let log: RefusalLog
    private let waits: Bool
    private var closing: Scheduled<Void>?

    /// - Parameter waits: Whether the client has time to read the answer.
    init(_ fault: RequestFault, _ source: any FileSource, _ log: RefusalLog, waits: Bool) {
        response = source.completing(Response(fault), to: nil)
        self.log = log
        self.waits = waits
    }

    func channelActive(context: ChannelHandlerContext) {
        var bytes = response.head(keepAlive: false, date: HTTPDate.now)
        if case .bytes(let body) = response.body { bytes.writeBytes(body) }
        let channel = context.channel
        let waits = waits
        let sent = context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes)))
        log.note(response, to: channel, when: sent)
        sent.whenComplete { _ in
            channel.close(mode: waits ? .output : .all, promise: nil)
        }
        guard waits else { return }
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Deadline.lingering)) {
            channel.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        context.fireChannelInactive()
    }
}
