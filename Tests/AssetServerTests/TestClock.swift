import NIOConcurrencyHelpers

/// A steady clock that stands until somebody moves it.
final class TestClock: Sendable {
    private let time = NIOLockedValueBox(Duration.zero)

    var now: Duration { time.withLockedValue(\.self) }

    func advance(by duration: Duration) { time.withLockedValue { $0 += duration } }
}
