import NIOConcurrencyHelpers

/// Keeps all that comes below a rate: whoever takes bytes waits until they would have come at it, and the server is held back.
final class Pace: Sendable {
    private let rate: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    /// When what came so far would have come.
    private let due: NIOLockedValueBox<ContinuousClock.Instant?>

    /// - Parameter rate: in bytes a second.
    init(
        _ rate: Int,
        clock: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.rate, self.clock, self.sleep, due) = (rate, clock, sleep, NIOLockedValueBox(nil))
    }

    /// Waits for as long as these bytes take, behind those that came before.
    ///
    /// - Returns: how long that was.
    func pay(for bytes: Int) async throws -> Duration {
        let now = clock()
        let end = due.withLockedValue { due in
            // A time in which nothing came is not made up for.
            let end = max(due ?? now, now) + .nanoseconds(bytes * 1_000_000_000 / rate)
            due = end
            return end
        }
        let wait = end - now
        try await sleep(wait)
        return wait
    }
}
