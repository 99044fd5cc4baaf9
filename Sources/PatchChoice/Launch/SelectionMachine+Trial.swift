package import PatchFormat

/// What a trial is to whoever asks.
extension SelectionMachine {
    /// Whether what runs is a trial that nothing is staged over: one that counts, and has something to go back to.
    package var isTrialRunning: Bool {
        guard case .trying(_, _, let launch) = state else { return false }
        return launch.isCounted && !isUnproven
    }

    /// Whether what runs has not proved itself and there is nothing to go back to, so that it stays.
    package var isUnproven: Bool {
        guard case .trying(nil, _, _) = state else { return false }
        return embedded == nil
    }

    /// The trial that the launch by `token` runs.
    package func trial(of token: LaunchToken) -> Selection? {
        guard case .trying(_, let trial, let launch) = state, launch.token == token else { return nil }
        return trial
    }

    /// What the next launch would try in place of something that runs.
    package var awaitedTrial: Selection? {
        guard case .pending(let good?, let next) = state, !good.contents.isSuperset(of: next.contents) else {
            return nil
        }
        let goesBack = !withdrawn.isEmpty && confirmedBefore.contains { $0.contents.isSuperset(of: next.contents) }
        return goesBack ? nil : next
    }

    /// The trial that the next launch would count as failed.
    package func trialAtItsLimit(_ launchLimit: Int = defaultLaunchLimit) -> Selection? {
        guard case .trying(_, let trial, let launch) = state, launch.launches >= launchLimit, !isUnproven else {
            return nil
        }
        return trial
    }
}

/// What stays on the disk.
extension SelectionMachine {
    /// The one confirmed just before the present one.
    package var previous: Selection? { earlier.first }

    /// Every selection whose files must stay.
    package var kept: [Selection] { state.kept + earlier + [embedded].compactMap(\.self) }
}

/// What failed here, and for how long.
extension SelectionMachine {
    package mutating func shortenBlocks(at time: UTCTime) {
        blocks.shorten(at: time)
    }

    package mutating func keepBlocks(listed: Set<PatchContent>, at time: UTCTime) {
        blocks.keep(listed: listed, at: time)
    }

    package mutating func boundBlocks(to count: Int) {
        blocks.bound(to: count)
    }

    /// A person, or a new build of the app, starts over.
    ///
    /// - Parameter ids: of these patches alone; nil for all.
    /// - Returns: what was blocked, or only waited.
    @discardableResult
    package mutating func clearBlocks(of ids: Set<PatchID>? = nil) -> [Label] {
        blocks.clearAll(of: ids)
    }
}
