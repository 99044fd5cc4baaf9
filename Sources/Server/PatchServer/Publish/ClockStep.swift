package import PatchFormat

/// Notices that the wall clock was set, by comparing it with a monotonic clock.
package enum ClockStep {
    /// How soon that is noticed.
    private static let interval = Duration.seconds(5)
    /// A time service corrects a clock by less than this without a step.
    private static let slack = 60

    /// Returns once the wall clock was set by more than a minute.
    ///
    /// - Throws: `CancellationError`.
    package static func wait<C: Clock<Duration>>(clock: C, now: @Sendable () -> UTCTime) async throws {
        let (began, start) = (clock.now, now())
        while true {
            try await clock.sleep(for: interval)
            let passed = Int(began.duration(to: clock.now).components.seconds)
            // Neither difference overflows: a UTCTime is a year from 0 to 9999.
            guard abs(now().seconds - start.seconds - passed) <= slack else { return }
        }
    }
}
