import NIOConcurrencyHelpers
import NIOCore

/// Closes a connection on which nothing has moved, in either direction, for a while.
struct IdleLimit: Sendable {
    private let limit: TimeAmount
    private let channel: any Channel
    private let lastMove: NIOLockedValueBox<NIODeadline>

    init(_ limit: Duration, _ channel: any Channel) {
        self.limit = TimeAmount(limit)
        self.channel = channel
        lastMove = NIOLockedValueBox(channel.eventLoop.now)
        watch()
    }

    /// Restarts the idle time after a transfer.
    func touch() {
        let now = channel.eventLoop.now
        lastMove.withLockedValue { $0 = now }
    }

    private func watch() {
        let end = lastMove.withLockedValue(\.self) + limit
        channel.eventLoop.scheduleTask(deadline: end) {
            guard channel.isActive else { return }
            if lastMove.withLockedValue(\.self) + limit <= channel.eventLoop.now {
                channel.close(promise: nil)
            } else {
                watch()
            }
        }
    }
}
