package import PatchFetch

/// When a server is asked next.
///
/// Pure: time and dice come in.
///
/// ```
/// start ──(nothing installed, or due)──▶ now        ──(synced lately)──▶ what is left of the interval
/// done ──▶ the interval          failed ──▶ 30 s, doubling, at most an hour, never less often than the interval
///                                failed because of the network ──▶ also as soon as there is a way again
///                                the server asks for more time ──▶ that, at most an hour or the interval
/// ```
package struct Schedule: Equatable, Sendable {
    /// What a sync came to.
    package enum Outcome: Equatable, Sendable {
        case done
        case failed(Failure)
        /// Another process syncs.
        case busy
    }

    package struct Failure: Equatable, Sendable {
        /// Whether the way to the server was at fault.
        package let isNetwork: Bool
        /// The time that the server asks for.
        package let retryAfter: RetryAfter?

        package init(isNetwork: Bool, retryAfter: RetryAfter? = nil) {
            (self.isNetwork, self.retryAfter) = (isNetwork, retryAfter)
        }
    }

    /// Each time is a tenth longer or shorter, so that devices that began together do not stay together.
    package static let jitter = 0.1
    package static let firstBackOff = Duration.seconds(30)
    package static let longestBackOff = Duration.seconds(3_600)
    /// Between a sync and the next that the network's return brings about.
    package static let networkPause = Duration.seconds(10)
    package static let busyPause = Duration.seconds(60)
    /// Longer than any interval that settings allow, and short enough for every sum.
    private static let longestWait = Duration.seconds(2 * RetryAfter.longest)

    /// Nil: only until there is a first version.
    private var interval: Duration?
    /// Whether a server is asked at all.
    private let isOn: Bool
    private var failures = 0
    /// Whether a way to the server is what it waits for.
    package private(set) var awaitsNetwork = false

    /// - Parameter isOn: false for a store that is only asked for by hand.
    package init(every interval: Duration?, isOn: Bool = true) {
        (self.interval, self.isOn) = (interval, isOn)
    }

    /// The same with another interval: failures in a row still count.
    package mutating func change(to interval: Duration?) { self.interval = interval }

    /// The first look after a start.
    ///
    /// - Parameters:
    ///   - age: of the last sync; nil before the first. A clock that went back makes it negative.
    ///   - random: from 0 up to, not including, 1.
    package func first(age: Duration?, isInstalled: Bool, random: Double) -> NextLook? {
        guard isOn else { return nil }
        guard let age, isInstalled else { return NextLook(seconds: 0, reason: .first) }
        guard let interval else { return nil }
        let left = interval - max(.zero, age)
        return left > .zero ? look(left, .interval, random) : NextLook(seconds: 0, reason: .interval)
    }

    package mutating func next(after outcome: Outcome, isInstalled: Bool, random: Double) -> NextLook? {
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
            let longestWish = max(interval ?? .zero, Self.longestBackOff)
            return look(max(wait, failure.retryAfter?.upTo(longestWish) ?? .zero), .backOff, random)
        }
    }

    /// There may be a way to the server again.
    ///
    /// - Parameter age: of the last try.
    /// - Returns: nil where that is not what it waits for.
    package func networkCame(age: Duration) -> NextLook? {
        guard awaitsNetwork else { return nil }
        return NextLook(seconds: max(.zero, Self.networkPause - age).wholeSeconds, reason: .network)
    }

    private func look(_ time: Duration, _ reason: NextLook.Reason, _ random: Double) -> NextLook {
        let time = min(max(.zero, time), Self.longestWait)
        return NextLook(seconds: (time * (1 - Self.jitter + 2 * Self.jitter * random)).wholeSeconds, reason: reason)
    }
}

extension Duration {
    /// Rounded up, so that no time is over too early.
    var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
