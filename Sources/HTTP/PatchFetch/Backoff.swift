/// How long to wait before a failed request is made again.
///
/// Each wait is a multiple of the one before, ±25 %, so that a fleet that lost its server does not come back in one
/// moment; a server's longer wish (`Retry-After`) is respected.
package struct Backoff: Equatable, Sendable {
    /// How a `Retry-After` is treated.
    package enum Patience: Equatable, Sendable {
        /// Respected up to this time; then the request is made all the same.
        case upTo(Duration)
        /// Respected, plus up to a quarter; a longer wish is reported, not waited for.
        case orGivesUp(above: Duration)
    }

    /// The first waits, without a spread.
    private let first: [Duration]
    /// In seconds: multiplied by ``factor`` once for each wait before.
    private let unit: Double
    private let factor: Double
    /// The spread is laid on top of it.
    package let longest: Duration
    package var patience: Patience

    /// A device's: 0.1, 0.1, 4.8, 10.6, 23, 52, 113, 249, then 300 s for ever.
    ///
    /// Meteor's figures; a changed network ends any wait at once.
    package static let device = Backoff(
        first: [.milliseconds(100), .milliseconds(100)],
        unit: 1,
        factor: 2.2,
        longest: .seconds(300),
        patience: .upTo(.seconds(60))
    )

    /// A build's: 0.5 s, 1 s, 2 s and on to a minute.
    package static let build = Backoff(
        first: [],
        unit: 0.5,
        factor: 2,
        longest: .seconds(60),
        patience: .orGivesUp(above: .seconds(300))
    )

    /// - Parameters:
    ///   - failures: of this request so far, in a row.
    ///   - asked: the server's wish.
    ///   - random: from 0 up to, not including, 1; 0.5 leaves the wait as it is.
    /// - Returns: nil when the server's wish exceeds the patience.
    package func wait(failures: Int, asked: Duration? = nil, random: Double) -> Duration? {
        let own = own(before: max(0, failures - 1), random)
        guard let asked else { return own }
        switch patience {
        case .upTo(let most): return max(own, min(asked, most))
        case .orGivesUp(let most): return asked > most ? nil : max(own, Self.rounded(asked * (1 + random / 4)))
        }
    }

    private func own(before: Int, _ random: Double) -> Duration {
        guard before >= first.count else { return first[before] }
        let longest = longest / .seconds(1)
        var seconds = unit
        for _ in 0..<before where seconds < longest { seconds *= factor }
        return Self.rounded(.seconds(min(seconds, longest) * (0.75 + random / 2)))
    }

    /// To a microsecond.
    private static func rounded(_ wait: Duration) -> Duration {
        .microseconds(Int((wait / .microseconds(1)).rounded()))
    }
}
