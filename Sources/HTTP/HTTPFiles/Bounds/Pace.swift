/// Whether a client keeps up with the least rate, on the average: bytes earn it time, waiting for it costs time.
///
/// A client that moves nothing is out of time after ``grace``; one that moves at least ``rate`` never is, in pauses and
/// bursts or evenly; and no pause of any length is granted anew for each byte.
package struct Pace: Equatable, Sendable {
    /// The most time that can be saved up, and what a client begins with.
    let grace: Duration
    /// Bytes a second; nil where bytes earn nothing, so that ``grace`` is the time of the whole.
    let rate: Int?
    /// How much longer the client may be waited for.
    package private(set) var left: Duration

    package init(grace: Duration, rate: Int?) {
        (self.grace, self.rate, left) = (grace, rate, grace)
    }

    package var isSpent: Bool { left <= .zero }

    /// - Parameter waited: how long nothing else than the client was waited for.
    package mutating func moved(_ bytes: Int, in waited: Duration) {
        left -= max(.zero, waited)
        guard let rate, bytes > 0 else { return }
        // More than the grace is never saved up, and fewer bytes cannot overflow.
        let useful = min(bytes, rate * (Int(grace.components.seconds) + 1) * 2)
        left = min(grace, left + .nanoseconds(Int64(useful) * 1_000_000_000 / Int64(max(1, rate))))
    }
}
