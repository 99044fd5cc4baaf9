import NIOConcurrencyHelpers

/// Limits the rate of received bytes.
///
/// The receiver of bytes waits until the rate allows them, which holds the server back.
final class Pace: Sendable {
    private let rate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    /// The time at which the bytes so far are due at this rate.
    private let due: NIOLockedValueBox<ContinuousClock.Instant?>

    /// - Parameter rate: Bytes per second.
    init(
        _ rate: Int,
        clock: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.rate, self.clock, self.sleep, due) = (rate, clock, sleep, NIOLockedValueBox(nil))
    }

    /// Waits until these bytes are due, after the previous ones.
    ///
    /// - Returns: The time waited.
    func pay(for bytes: Int) async throws -> Duration {
        let now = clock()
        let end = due.withLockedValue { due in
            // An idle time is not made up for.
            let end = max(due ?? now, now) + .nanoseconds(bytes * 1_000_000_000 / rate)
            due = end
            return end
        }
        let wait = end - now
        try await sleep(wait)
        return wait
    }
}
