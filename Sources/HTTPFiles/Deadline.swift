import NIOConcurrencyHelpers
import NIOCore

/// Ends a wait for the client, unless it is cancelled in time.
struct Deadline: Sendable {
    enum Effect: Sendable {
        /// The connection is closed; reads and writes fail.
        case closing
        /// The reader gets an empty buffer, finds ``Deadline/hasExpired``, and can still answer. Closing the input
        /// instead would leave unread bytes, and closing over those resets the connection, with the answer in it.
        case wakingReader
    }

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
                channel.pipeline.fireChannelRead(ByteBuffer())
                channel.pipeline.fireChannelReadComplete()
            }
        }
    }

    var hasExpired: Bool { expired.withLockedValue { $0 } }

    func cancel() {
        task.cancel()
    }
}
