/// Checks that a client keeps an average minimum rate: bytes earn it time, and waiting for it costs time.
///
/// A client that moves nothing is out of time after ``grace``. A client that moves at least ``rate`` on average is never out of
/// time, in bursts or evenly. The grace is granted once, not anew for each byte.
package struct Pace: Equatable, Sendable {
    /// The most time that a client can save up, and the time it starts with.
    let grace: Duration
    /// Bytes per second.
    ///
    /// If nil, bytes earn no time, and ``grace`` limits the whole transfer.
    let rate: Int?
    /// How much longer to wait for the client.
    package private(set) var left: Duration

    package init(grace: Duration, rate: Int?) {
        (self.grace, self.rate, left) = (grace, rate, grace)
    }

    package var isSpent: Bool { left <= .zero }

    /// - Parameter waited: How long only the client was waited for.
    package mutating func moved(_ bytes: Int, in waited: Duration) {
        left -= max(.zero, waited)
        guard let rate, bytes > 0 else { return }
        // At most the grace is saved up, so more bytes are useless, and fewer cannot overflow.
        let useful = min(bytes, rate * (Int(grace.components.seconds) + 1) * 2)
        left = min(grace, left + .nanoseconds(Int64(useful) * 1_000_000_000 / Int64(max(1, rate))))
    }
}
