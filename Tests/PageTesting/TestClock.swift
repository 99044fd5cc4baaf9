import NIOConcurrencyHelpers

/// A steady clock that stands until somebody moves it.
package final class TestClock: Sendable {
    private let time = NIOLockedValueBox(Duration.zero)

    package init() {}

    package var now: Duration { time.withLockedValue(\.self) }

    package func advance(by duration: Duration) { time.withLockedValue { $0 += duration } }
}
