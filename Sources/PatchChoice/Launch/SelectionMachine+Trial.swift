package import PatchFormat

/// The facts of a trial.
extension SelectionMachine {
    /// Whether the running selection is a trial that nothing is staged over: one that counts, and has a way back.
    package var isTrialRunning: Bool {
        guard case .trying(_, _, let launch) = state else { return false }
        return launch.isCounted && !isUnproven
    }

    /// Whether the running selection has not proved itself and has no way back, so that it stays.
    package var isUnproven: Bool {
        guard case .trying(nil, _, _) = state else { return false }
        return embedded == nil
    }

    /// The trial of the launch that has `token`.
    package func trial(of token: LaunchToken) -> Selection? {
        guard case .trying(_, let trial, let launch) = state, launch.token == token else { return nil }
        return trial
    }

    /// The selection that the next launch would try in place of a running one.
    package var awaitedTrial: Selection? {
        guard case .pending(let good?, let next) = state, !good.contents.isSuperset(of: next.contents) else {
            return nil
        }
        let goesBack = !withdrawn.isEmpty && confirmedBefore.contains { $0.contents.isSuperset(of: next.contents) }
        return goesBack ? nil : next
    }

    /// The trial that the next launch would fail.
    package func trialAtItsLimit(_ launchLimit: Int = defaultLaunchLimit) -> Selection? {
        guard case .trying(_, let trial, let launch) = state, launch.launches >= launchLimit, !isUnproven else {
            return nil
        }
        return trial
    }
}

/// Selections that stay on disk.
extension SelectionMachine {
    /// The one confirmed just before the present one.
    package var previous: Selection? { earlier.first }

    /// Every selection whose files must stay.
    package var kept: [Selection] { state.kept + earlier + [embedded].compactMap(\.self) }

    /// Goes back to the last confirmed selection, whatever is pending or on trial.
    package mutating func settleOnGood() {
        if let good = state.good.flatMap({ withoutWithdrawn($0) }) ?? embedded { state = .settled(good) }
    }
}

/// Versions that failed here, and for how long.
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

    /// Starts over, for a person or a new build of the app.
    ///
    /// - Parameter ids: only these patches; nil for all.
    /// - Returns: the versions that were blocked, or only waited.
    @discardableResult
    package mutating func clearBlocks(of ids: Set<PatchID>? = nil) -> [Label] {
        blocks.clearAll(of: ids)
    }
}
