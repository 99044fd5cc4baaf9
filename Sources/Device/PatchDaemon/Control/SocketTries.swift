/// Decides when to try again to create a socket, and which failures to report.
struct SocketTries: Equatable, Sendable {
    struct Next: Equatable, Sendable {
        let pause: Duration
        let isReported: Bool
    }

    /// The number of attempts without a report while another process has the lock, which it needs for milliseconds.
    static let silentTries = 10
    static let shortPause = Duration.milliseconds(200)
    static let longestPause = Duration.seconds(60)

    private var count = 0
    private var lastError: ControlError?

    /// Records a failure.
    ///
    /// Each failure is reported once, until another one occurs.
    mutating func failed(_ error: ControlError) -> Next {
        count += 1
        if case .locked = error, lastError == nil, count <= Self.silentTries {
            return Next(pause: Self.shortPause, isReported: false)
        }
        defer { lastError = error }
        let pause = min(Self.longestPause, .seconds(1) * (1 << min(count, 6)))
        return Next(pause: pause, isReported: error != lastError)
    }
}
