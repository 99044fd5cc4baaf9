/// The time limit for a trial's confirmation, counted only while the app is in the foreground (M12).
///
/// The timer is polled often. The time between two polls counts up to a second, because a process that was stopped, or a machine
/// that was asleep, could not confirm. A pure value: the caller supplies the time of a monotonic clock.
package struct StartupTimer: Equatable, Sendable {
    /// The maximum time that counts between two polls.
    package static let longestStep = Duration.seconds(1)

    package let limit: Duration
    package private(set) var elapsed = Duration.zero
    package private(set) var isPaused = false
    /// The time of the last poll, or nil while no time is counted.
    private var last: Duration?

    package init(limit: Duration) {
        self.limit = limit
    }

    /// Whether the time is up.
    ///
    /// - Parameter now: The time since any fixed moment.
    package mutating func hasEnded(at now: Duration) -> Bool {
        count(to: now)
        return !isPaused && elapsed >= limit
    }

    /// The time until the next poll, so that all of it counts, or nil while no time is counted.
    package var nextQuestion: Duration? {
        isPaused ? nil : max(.zero, min(limit - elapsed, Self.longestStep / 2))
    }

    /// Stops counting while the app is in the background.
    package mutating func pause(at now: Duration) {
        count(to: now)
        isPaused = true
        last = nil
    }

    package mutating func resume(at now: Duration) {
        guard isPaused else { return }
        isPaused = false
        last = now
    }

    /// Skips the time since the last poll, in which the trial could not confirm because the server was full.
    package mutating func leaveOut(until now: Duration) {
        guard !isPaused else { return }
        last = now
    }

    private mutating func count(to now: Duration) {
        guard !isPaused else { return }
        if let last { elapsed += max(.zero, min(now - last, Self.longestStep)) }
        last = now
    }
}
