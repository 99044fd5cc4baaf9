package import HTTPCore

/// Determines when the server is contacted next.
///
/// Pure: the caller passes the time and random numbers.
///
/// ```
/// start ──(nothing installed, or due)──▶ now        ──(synced lately)──▶ the rest of the interval
/// done ──▶ the interval          failed ──▶ 30 s, doubling, at most an hour, never less often than the interval
///                                failed because of the network ──▶ also as soon as the network returns
///                                the server asks for more time ──▶ this delay, at most an hour or the interval
/// ```
package struct Schedule: Equatable, Sendable {
    /// The outcome of a sync.
    package enum Outcome: Equatable, Sendable {
        case done
        case failed(Failure)
        /// Another process syncs.
        case busy
    }

    package struct Failure: Equatable, Sendable {
        /// Whether the network to the server failed.
        package let isNetwork: Bool
        /// The delay that the server requests.
        package let retryAfter: RetryAfter?

        package init(isNetwork: Bool, retryAfter: RetryAfter? = nil) {
            (self.isNetwork, self.retryAfter) = (isNetwork, retryAfter)
        }
    }

    /// Each delay varies by a tenth, so that devices that started together do not stay synchronized.
    package static let jitter = 0.1
    package static let firstBackOff = Duration.seconds(30)
    package static let longestBackOff = Duration.seconds(3_600)
    /// The shortest time between a sync and the next one after the network's return.
    package static let networkPause = Duration.seconds(10)
    package static let busyPause = Duration.seconds(60)
    /// Longer than any interval that settings allow, and short enough for sums without overflow.
    private static let longestWait = Duration.seconds(2 * RetryAfter.longest)

    /// The interval, or nil to sync only until a first version is installed.
    private var interval: Duration?
    /// Whether the server is contacted at all.
    private let isOn: Bool
    private var failures = 0
    /// Whether the schedule waits for a network to the server.
    package private(set) var awaitsNetwork = false

    /// - Parameter isOn: False for a store that syncs only on request.
    package init(every interval: Duration?, isOn: Bool = true) {
        (self.interval, self.isOn) = (interval, isOn)
    }

    /// Changes the interval.
    ///
    /// Consecutive failures still count.
    package mutating func change(to interval: Duration?) { self.interval = interval }

    /// Returns the first check after a start.
    ///
    /// - Parameters:
    ///   - age: The time since the last sync, or nil before the first. It is negative if the clock was set back.
    ///   - random: At least 0 and less than 1.
    package func first(age: Duration?, isInstalled: Bool, random: Double) -> NextContact? {
        guard isOn else { return nil }
        guard let age, isInstalled else { return NextContact(seconds: 0, reason: .first) }
        guard let interval else { return nil }
        let left = interval - max(.zero, age)
        return left > .zero ? look(left, .interval, random) : NextContact(seconds: 0, reason: .interval)
    }

    package mutating func next(after outcome: Outcome, isInstalled: Bool, random: Double) -> NextContact? {
        guard isOn else { return nil }
        switch outcome {
        case .done:
            failures = 0
            awaitsNetwork = false
            if let interval { return look(interval, .interval, random) }
            return isInstalled ? nil : look(Self.firstBackOff, .first, random)
        case .busy: return look(min(interval ?? Self.busyPause, Self.busyPause), .backOff, random)
        case .failed(let failure):
            awaitsNetwork = failure.isNetwork
            guard interval != nil || !isInstalled else { return nil }
            let longest = min(interval ?? Self.longestBackOff, Self.longestBackOff)
            let wait = min(longest, Self.firstBackOff * (1 << failures))
            failures = min(failures + 1, 20)
            let longestRetryAfter = max(interval ?? .zero, Self.longestBackOff)
            return look(max(wait, failure.retryAfter?.upTo(longestRetryAfter) ?? .zero), .backOff, random)
        }
    }

    /// Returns the next check after a network to the server may have returned.
    ///
    /// - Parameter age: The time since the last attempt.
    /// - Returns: Nil if the schedule does not wait for a network.
    package func networkBecameAvailable(age: Duration) -> NextContact? {
        guard awaitsNetwork else { return nil }
        return NextContact(seconds: max(.zero, Self.networkPause - age).wholeSeconds, reason: .network)
    }

    private func look(_ time: Duration, _ reason: NextContact.Reason, _ random: Double) -> NextContact {
        let time = min(max(.zero, time), Self.longestWait)
        return NextContact(seconds: (time * (1 - Self.jitter + 2 * Self.jitter * random)).wholeSeconds, reason: reason)
    }
}

extension Duration {
    /// The seconds rounded up, so that no delay ends early.
    var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
