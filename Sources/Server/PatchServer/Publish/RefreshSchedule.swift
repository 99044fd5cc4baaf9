package import PatchFormat

/// When what the online key signs is signed again, and when a server looks again whether it is time.
package struct RefreshSchedule: Equatable, Sendable {
    /// After a lock that was held: its holder is done in a moment.
    private static let afterLock = Duration.seconds(5)
    /// After a failure, which somebody has to see to.
    private static let afterFailure = Duration.minutes(1)
    /// However far away the next time is: the machine may sleep, its clock may be set, an app may be added.
    private static let longest = Duration.minutes(10)
    /// While the clock is behind.
    ///
    /// A time service steps it at any moment; waits are measured by another clock, which no step
    /// shortens.
    private static let whileClockBehind = Duration.seconds(2)

    /// How old a timestamp may become.
    package let every: Duration

    package init(every: Duration) {
        self.every = every
    }

    /// A timestamp without the time of its signature counts as old.
    ///
    /// Of one from the future ``ClockBehind`` decides.
    package func isDue(signedAt: UTCTime?, at now: UTCTime) -> Bool {
        guard let signedAt else { return true }
        return signedAt.adding(every) <= now
    }

    /// How long to wait after a round.
    package func pause(after results: [RefreshResult], at now: UTCTime) -> Duration {
        results.map { pause(after: $0, at: now) }.reduce(Self.longest, min)
    }

    private func pause(after result: RefreshResult, at now: UTCTime) -> Duration {
        switch result {
        case .fresh(let signedAt): .seconds(max(1, signedAt.adding(every).seconds - now.seconds))
        case .signed: max(.seconds(1), every)
        case .locked: Self.afterLock
        case .clockBehind: Self.whileClockBehind
        case .failed: Self.afterFailure
        case .withoutKey: Self.longest
        }
    }
}

/// What a round did for one app.
package enum RefreshResult: Equatable, Sendable {
    /// Nothing: it is not time yet.
    case fresh(signedAt: UTCTime)
    case signed(RefreshedVersions)
    /// Another process changes the folder.
    case locked
    /// Nothing, even if signatures are due: by this clock they would have expired for every device.
    case clockBehind(ClockBehind)
    case failed(String)
    /// The online key is encrypted, and nobody named its passphrase.
    case withoutKey
}
