import HTTPFiles
import NIOCore

/// How long a client may still be waited for, and since when it is.
struct ClientWait: Equatable, Sendable {
    private(set) var pace: Pace
    private(set) var since: NIODeadline?

    init(_ pace: Pace) { self.pace = pace }

    /// - Returns: when the time is over; nil where it was waited for already.
    mutating func begin(at now: NIODeadline) -> NIODeadline? {
        guard since == nil else { return nil }
        since = now
        return now + TimeAmount(pace.left)
    }

    /// - Returns: false once the client is too slow.
    mutating func end(at now: NIODeadline, bytes: Int = 0) -> Bool {
        guard let since else { return true }
        pace.moved(bytes, in: Duration(now - since))
        self.since = nil
        return !pace.isSpent
    }

    /// Something else is waited for from here on, in the same breath.
    mutating func turn(to pace: Pace, at now: NIODeadline) {
        self.pace = pace
        if since != nil { since = now }
    }

    var deadline: NIODeadline? { since.map { $0 + TimeAmount(pace.left) } }
}
