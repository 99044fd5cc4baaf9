/// The time to wait before a failed request is repeated.
///
/// Each wait is a multiple of the previous one, ±25 %, so that a fleet that lost its server does not return at one moment. A
/// server's longer `Retry-After` is respected.
package struct Backoff: Equatable, Sendable {
    /// The treatment of `Retry-After`.
    package enum Patience: Equatable, Sendable {
        /// Respected up to this time. After it, the request is repeated regardless.
        case upTo(Duration)
        /// Respected, plus up to a quarter. A longer time is reported instead of waited for.
        case orGivesUp(above: Duration)
    }

    /// The first waits, without a spread.
    private let first: [Duration]
    /// The unit of the later waits in seconds.
    ///
    /// It is multiplied by ``factor`` once for each previous wait.
    private let unit: Double
    private let factor: Double
    /// The longest wait, before the spread is added.
    package let longest: Duration
    package var patience: Patience

    /// The backoff of devices: 0.1, 0.1, 4.8, 10.6, 23, 52, 113, 249, then always 300 s.
    ///
    /// The values are Meteor's. A changed network ends any wait at once.
    package static let device = Backoff(
        first: [.milliseconds(100), .milliseconds(100)],
        unit: 1,
        factor: 2.2,
        longest: .seconds(300),
        patience: .upTo(.seconds(60))
    )

    /// The backoff of builds: 0.5 s, 1 s, 2 s and so on, up to a minute.
    package static let build = Backoff(
        first: [],
        unit: 0.5,
        factor: 2,
        longest: .seconds(60),
        patience: .orGivesUp(above: .seconds(300))
    )

    /// - Parameters:
    ///   - failures: The number of consecutive failures of this request.
    ///   - asked: The server's `Retry-After`.
    ///   - random: At least 0 and less than 1. 0.5 leaves the wait unchanged.
    /// - Returns: Nil if the server's time exceeds the patience.
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

    /// Rounds to a microsecond.
    private static func rounded(_ wait: Duration) -> Duration {
        .microseconds(Int((wait / .microseconds(1)).rounded()))
    }
}
