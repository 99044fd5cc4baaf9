/// How long a trial has to say that it works, counted only while the app runs in front (M12).
///
/// It is asked often. What passes between two questions counts up to a second: a process that was stopped, or a machine
/// that slept, was given no chance to confirm. Pure; time comes in as what a steady clock shows.
package struct StartupTimer: Equatable, Sendable {
    /// The most that counts between two questions.
    package static let longestStep = Duration.seconds(1)

    package let limit: Duration
    package private(set) var elapsed = Duration.zero
    package private(set) var isPaused = false
    /// When it was asked last; nil while nothing is being counted.
    private var last: Duration?

    package init(limit: Duration) {
        self.limit = limit
    }

    /// Whether the time is up.
    ///
    /// - Parameter now: since any fixed moment.
    package mutating func hasEnded(at now: Duration) -> Bool {
        count(to: now)
        return !isPaused && elapsed >= limit
    }

    /// In how much time to ask next, so that all of it counts; nil while nothing is counted.
    package var nextQuestion: Duration? {
        isPaused ? nil : max(.zero, min(limit - elapsed, Self.longestStep / 2))
    }

    /// The app goes to the background.
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

    /// What passed since the last question was no chance to confirm: the server had no room for who asked.
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
