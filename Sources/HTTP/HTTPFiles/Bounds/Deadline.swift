import NIOConcurrencyHelpers
import NIOCore

/// Ends a wait for the client, unless it is cancelled in time.
struct Deadline: Sendable {
    enum Effect: Sendable {
        /// The connection is closed; reads and writes fail.
        case closing
        /// The reader is woken, finds ``Deadline/hasExpired``, and can still answer. Closing the input instead would leave unread
        /// bytes, and closing a connection with unread bytes resets it, so that the answer is lost.
        case wakingReader
    }

    /// How long a client may be silent after a last response until its connection is closed.
    ///
    /// Input received meanwhile is discarded.
    static let lingering = Duration.seconds(2)

    private let expired: NIOLockedValueBox<Bool>
    private let task: Scheduled<Void>

    init(in limit: Duration, _ effect: Effect, _ channel: any Channel) {
        let expired = NIOLockedValueBox(false)
        self.expired = expired
        task = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            expired.withLockedValue { $0 = true }
            switch effect {
            case .closing:
                channel.close(promise: nil)
            case .wakingReader:
                ReaderWake.fire(channel)
            }
        }
    }

    var hasExpired: Bool { expired.withLockedValue { $0 } }

    func cancel() {
        task.cancel()
    }
}

/// Wakes the reader behind it on request.
///
/// It follows TLS and the front in the pipeline, because both would treat a read from an earlier handler as bytes of the client.
final class ReaderWake: ChannelInboundHandler {
    typealias InboundIn = ConnectionInput
    typealias InboundOut = ConnectionInput

    struct Event: Sendable {}

    static func fire(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(Event())
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is Event else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        context.fireChannelRead(wrapInboundOut(.wake))
        context.fireChannelReadComplete()
    }
}
