/// How long to wait before a failed request is made again.
///
/// 0.1 s, 0.1 s, then 2.2^n s with n the number of waits before, each from there on ±25 % so that a fleet that lost its
/// server does not come back in one moment: 0.1, 0.1, 4.8, 10.6, 23, 52, 113, 249, then 300 s for ever. Meteor's
/// figures; a changed network ends any wait at once.
package struct RetryWait: Equatable, Sendable {
    /// Reached with the ninth failure; the spread is laid on top of it.
    package static let longest = Duration.seconds(300)

    package let duration: Duration

    /// - Parameters:
    ///   - failures: of this request so far, in a row; at least 1.
    ///   - random: from 0 up to, not including, 1; 0.5 leaves the wait as it is.
    package init(failures: Int, random: Double) {
        precondition(failures >= 1 && (0..<1).contains(random))
        let before = failures - 1
        guard before >= 2 else {
            duration = .milliseconds(100)
            return
        }
        let longest = Double(Self.longest.components.seconds)
        var seconds = 1.0
        for _ in 0..<before where seconds < longest { seconds *= 2.2 }
        duration = .seconds(min(seconds, longest) * (0.75 + random / 2))
    }
}
