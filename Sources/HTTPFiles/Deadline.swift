import NIOConcurrencyHelpers
import NIOCore

/// Closes one side of a connection, or both, unless it is cancelled in time; what waits for the client then ends.
struct Deadline: Sendable {
    private let expired: NIOLockedValueBox<Bool>
    private let task: Scheduled<Void>

    /// - Parameter mode: `.input` to leave room for an answer, `.all` to drop the client.
    init(in limit: Duration, closing channel: any Channel, mode: CloseMode) {
        let expired = NIOLockedValueBox(false)
        self.expired = expired
        task = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            expired.withLockedValue { $0 = true }
            channel.close(mode: mode, promise: nil)
        }
    }

    var hasExpired: Bool { expired.withLockedValue { $0 } }

    func cancel() {
        task.cancel()
    }
}
