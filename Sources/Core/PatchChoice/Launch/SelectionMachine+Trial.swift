package import PatchFormat

/// The facts of a trial.
extension SelectionMachine {
    /// Whether a counted trial with a rollback target is running.
    ///
    /// New selections are not staged until it ends.
    package var isTrialRunning: Bool {
        guard case .trying(_, _, let launch) = state else { return false }
        return launch.isCounted && !isUnproven
    }

    /// Whether the running selection is unconfirmed and has no rollback target, so that it stays.
    package var isUnproven: Bool {
        guard case .trying(nil, _, _) = state else { return false }
        return embedded == nil
    }

    /// The trial of the launch with this token.
    package func trial(of token: LaunchToken) -> Selection? {
        guard case .trying(_, let trial, let launch) = state, launch.token == token else { return nil }
        return trial
    }

    /// The selection that replaced a trial before it was decided, for example by a sync of another process that found a newer list.
    ///
    /// Nil if the trial is still running, was confirmed or was rolled back.
    ///
    /// - Parameter token: The launch of the trial.
    package func replacement(of trial: Selection, in token: LaunchToken) -> Selection? {
        guard token != confirmedLaunch else { return nil }
        let present: Selection? =
            switch state {
            case .empty: nil
            case .pending(_, let next): next
            case .trying(_, let next, let launch): launch.token == token ? nil : next
            // A trial that was rolled back is blocked.
            case .settled(let good): setback(of: trial) == nil ? good : nil
            }
        return present?.contents == trial.contents ? nil : present
    }

    /// The selection that the next launch would try in place of the active one.
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

/// Why a trial failed.
extension SelectionMachine {
    /// Keeps the first page error of the launch with this token.
    ///
    /// - Returns: whether the error was kept. False for a page of another launch, and for later errors of the trial.
    package mutating func pageFailed(_ error: PageError, in token: LaunchToken) -> Bool {
        guard case .trying(let good, let trial, var launch) = state, launch.token == token, launch.error == nil else {
            return false
        }
        launch.error = error
        state = .trying(good: good, trial: trial, launch: launch)
        return true
    }

    /// Why this selection was rolled back, or nil if none of its versions is blocked.
    package func setback(of selection: Selection) -> Setback? {
        selection.patches.compactMap { blocks.blocks[$0.content] }.max { $0.until < $1.until }
            .map { Setback(reason: $0.reason, error: $0.error) }
    }
}

/// The reason of a rollback.
package struct Setback: Equatable, Sendable {
    package let reason: TrialBlocks.Reason
    /// The first error of the selection's pages, or the error of its script.
    package let error: PageError?

    package init(reason: TrialBlocks.Reason, error: PageError? = nil) {
        (self.reason, self.error) = (reason, error)
    }

    /// The members in events and reports.
    ///
    /// `reason` is stable for programs, and `why` is for people.
    package var members: [(String, JSON?)] {
        [("reason", .text(reason.code)), ("why", .text(reason.rawValue)), ("pageError", error?.json)]
    }
}

extension Setback: CustomStringConvertible {
    package var description: String { reason.rawValue + (error.map { "; its page's first error: \($0)" } ?? "") }
}

/// Selections that stay on disk.
extension SelectionMachine {
    /// The selection confirmed just before the present one.
    package var previous: Selection? { earlier.first }

    /// All selections whose files must stay.
    package var kept: [Selection] { state.kept + earlier + [embedded].compactMap(\.self) }

    /// Returns to the last confirmed selection, and drops any pending selection or trial.
    package mutating func settleOnGood() {
        if let good = state.good.flatMap({ withoutWithdrawn($0) }) ?? embedded { state = .settled(good) }
    }
}

/// Versions that failed on this device, and the duration of their blocks.
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

    /// Removes blocks, for a person or a new build of the app.
    ///
    /// - Parameter ids: The only patches to unblock, or nil for all.
    /// - Returns: the versions that were blocked or waiting.
    @discardableResult
    package mutating func clearBlocks(of ids: Set<PatchID>? = nil) -> [Label] {
        blocks.clearAll(of: ids)
    }
}
