import NIOConcurrencyHelpers
package import PatchFormat

/// A clock that stands still until a test moves it.
package final class ManualClock: Sendable {
    /// 2026-11-20T08:00:00Z, about when the sample list of the design was published.
    package static let start = UTCTime(seconds: 1_795_161_600)

    private let time: NIOLockedValueBox<UTCTime>

    package init(_ time: UTCTime = start) {
        self.time = NIOLockedValueBox(time)
    }

    /// To be passed where a time is asked for: `now: clock.now`.
    package func now() -> UTCTime {
        time.withLockedValue(\.self)
    }

    package func set(to moment: UTCTime) {
        time.withLockedValue { $0 = moment }
    }

    package func advance(by duration: Duration) {
        time.withLockedValue { $0 = $0.adding(duration) }
    }
}
