package import PatchFormat

/// The selections of one channel on one device, and every event that changes them.
///
/// Pure: the caller saves the new value, then carries out the action.
package struct SelectionMachine: Equatable, Sendable {
    /// How many launches a trial has before it fails: a power cut during the first causes no rollback.
    package static let defaultLaunchLimit = 2

    /// How many selections confirmed before the present one are kept.
    package static let defaultKeep = 1
    package static let keepRange = 0...10

    package internal(set) var state: SelectionState
    /// The selections confirmed before the present one, newest first; `rollback` goes to the first.
    package internal(set) var earlier: [Selection]
    package internal(set) var blocks: TrialBlocks
    /// The embedded selection without withdrawn patches; `rollback` goes there when nothing was confirmed before.
    package internal(set) var embedded: Selection?
    /// The launch that was confirmed last, whose confirmation may arrive twice.
    package private(set) var confirmedLaunch: LaunchToken?
    /// Patches of ``state`` that a list withdrew by name; ``earlier`` and ``embedded`` hold none of them.
    package internal(set) var withdrawn: Set<PatchContent>

    package init(
        state: SelectionState = .empty,
        earlier: [Selection],
        blocks: TrialBlocks = TrialBlocks(),
        embedded: Selection? = nil,
        confirmedLaunch: LaunchToken? = nil,
        withdrawn: Set<PatchContent> = []
    ) {
        self.withdrawn = withdrawn
        self.state = state
        self.earlier = earlier
        self.blocks = blocks
        self.embedded = embedded
        self.confirmedLaunch = confirmedLaunch
    }

    package init(
        state: SelectionState = .empty,
        previous: Selection? = nil,
        blocks: TrialBlocks = TrialBlocks(),
        embedded: Selection? = nil
    ) {
        self.init(state: state, earlier: [previous].compactMap(\.self), blocks: blocks, embedded: embedded)
    }

    /// Stages a complete, verified selection.
    package mutating func stage(_ next: Selection) -> Staging {
        switch state {
        case .empty:
            guard !next.patches.isEmpty else { return .unchanged }
            state = .pending(good: nil, next: next)
            return .staged
        case .settled(let good):
            guard good.contents != next.contents else { return .unchanged }
            state = .pending(good: good, next: next)
            return .staged
        case .pending(let good, let waiting):
            if waiting.contents == next.contents {
                // Its rules may have changed: made mandatory meanwhile, say.
                state = .pending(good: good, next: waiting.activating(next.activates, isMandatory: next.isMandatory))
                return .unchanged
            }
            if (good?.contents ?? []) == next.contents {
                state = .resting(good)
                return .unstaged
            }
            state = .pending(good: good, next: next)
            return .staged
        case .trying(let good, let trial, let launch):
            guard isUnproven || !launch.isCounted else { return .trialRunning }
            if trial.contents == next.contents { return .unchanged }
            if let good, good.contents == next.contents {
                state = .settled(good)
                return .unstaged
            }
            // A selection that only removes patches needs no trial: the next launch settles on it.
            let isWithdrawn = good == nil && next.patches.isEmpty
            state = .pending(good: isWithdrawn ? trial : good, next: next)
            return .staged
        }
    }

    /// The app starts.
    ///
    /// - Parameters:
    ///   - isPendingDamaged: whether files of ``awaitedTrial`` are missing or altered: it then waits until a sync has
    ///     healed it, and the selection before it runs.
    ///   - isHeld: whether what is pending is not to start now: what runs goes on.
    ///   - counting: when a trial begins to count this launch.
    package mutating func launch(
        token: LaunchToken,
        at time: UTCTime,
        launchLimit: Int = defaultLaunchLimit,
        isPendingDamaged: Bool = false,
        isHeld: Bool = false,
        counting: TrialStart = .launch
    ) -> Activation {
        switch state {
        case .empty: return .nothing
        case .settled(let selection): return .run(selection, removed: [])
        case .pending(let good?, _) where isHeld: return .run(good, removed: [])
        case .pending(let good?, let next) where isPendingDamaged:
            guard let rest = self.rest(of: good, beside: next) else {
                return activate(next, over: good, token: token, counting: counting)
            }
            return .run(rest, removed: good.patchIDs(missingFrom: next))
        case .pending(let good, let next): return activate(next, over: good, token: token, counting: counting)
        case .trying(let good, let trial, let launch):
            guard launch.launches < launchLimit || isUnproven else {
                return .rolledBack(to: failTrial(because: .launches, at: time), from: trial)
            }
            state = .trying(
                good: good,
                trial: trial,
                launch: launch.next(token, isCounted: counting.isAtOnce(for: trial))
            )
            return .tryOut(trial, token)
        }
    }

    /// A page's reload or a person's `switch`; nil when nothing is pending that may start now.
    package mutating func switchToPending(token: LaunchToken, counting: TrialStart = .launch) -> Activation? {
        guard case .pending(let good, let next) = state, next.activates != .atNextLaunch else { return nil }
        return activate(next, over: good, token: token, counting: counting)
    }

    private mutating func activate(
        _ next: Selection,
        over good: Selection?,
        token: LaunchToken,
        counting: TrialStart
    ) -> Activation {
        let removed = good?.patchIDs(missingFrom: next) ?? []
        // A withdrawn patch must not come back, however this activation ends.
        let rest = good.flatMap { self.rest(of: $0, beside: next) }
        earlier = earlier.compactMap { $0.withoutPatchesMissing(from: next) }
        embedded = embedded.flatMap { $0.withoutPatchesMissing(from: next) }
        defer { forgetWithdrawn() }
        let proven = [good].compactMap(\.self) + (withdrawn.isEmpty ? [] : earlier + [embedded].compactMap(\.self))
        if good != nil, proven.contains(where: { $0.contents.isSuperset(of: next.contents) }) {
            // Only withdrawals: all remaining patches have proved themselves.
            state = .resting(next.patches.isEmpty ? nil : next)
            earlier.removeAll { $0.contents == next.contents }
            return .run(next, removed: removed)
        }
        let launch = SelectionState.TrialLaunch(token: token, launches: 0)
        // A selection combined from several is on trial like any that never ran, and is not its own way back.
        let before = rest?.contents == next.contents ? earlier.first ?? embedded : rest
        state = .trying(good: before, trial: next, launch: launch.next(token, isCounted: counting.isAtOnce(for: next)))
        return .tryOut(next, token)
    }

    /// Confirms the launch that has `token`.
    ///
    /// - Parameter keep: how many of the selections confirmed before are kept.
    package mutating func confirm(_ token: LaunchToken, keep: Int = defaultKeep) -> Confirmation {
        switch state {
        case .empty: return .nothingToConfirm
        case .settled(let selection), .pending(let selection?, _):
            return token == confirmedLaunch ? .alreadyConfirmed(selection) : .nothingOnTrial(selection)
        case .pending(nil, _): return .nothingToConfirm
        case .trying(let good, let trial, let launch):
            guard launch.token == token else { return .otherLaunch }
            let before = [good].compactMap(\.self) + earlier.filter { $0.contents != trial.contents }
            earlier = Array(before.prefix(keep))
            blocks.clear(trial.contents)
            state = .settled(trial)
            confirmedLaunch = token
            return .confirmed(trial)
        }
    }

    /// Ends the startup timer of the launch that has `token`.
    ///
    /// Nil when that launch is no trial any more.
    package mutating func timerEnded(_ token: LaunchToken, at time: UTCTime) -> Activation? {
        guard case .trying(_, let trial, let launch) = state, launch.token == token else { return nil }
        if isUnproven { return .unproven(trial) }
        return .rolledBack(to: failTrial(because: .timer, at: time), from: trial)
    }

    /// A script failed in a page of the launch that has `token`; nil for a page of what is confirmed.
    ///
    /// It ends a trial at once, as a page that never is ready does in its time; one that has nothing to go back to stays.
    ///
    /// - Parameter error: the script's error, to be kept with the block.
    package mutating func scriptFailed(
        _ script: PatchContent,
        in token: LaunchToken?,
        at time: UTCTime,
        error: PageError? = nil
    ) -> ScriptVerdict {
        switch state {
        case .trying(_, let trial, let launch) where launch.token == token:
            guard trial.contents.contains(script) else { return .otherLaunch }
            guard !isUnproven else { return .told }
            return .ends(.rolledBack(to: failTrial(because: .script, at: time, error: error), from: trial))
        case .empty, .settled, .pending, .trying:
            let proven = [state.good].compactMap(\.self) + earlier + [embedded].compactMap(\.self)
            let isProven = proven.contains { $0.contents.contains(script) }
            return isProven && (token == nil || token == confirmedLaunch) ? .told : .otherLaunch
        }
    }

    /// The same for a script that a page could not load, which says nothing of the script.
    package func verdict(onUnloaded script: PatchContent, in token: LaunchToken?) -> ScriptVerdict {
        var machine = self
        // What would be blamed is told alone.
        return machine.scriptFailed(script, in: token, at: UTCTime(seconds: 0)) == .otherLaunch ? .otherLaunch : .told
    }

    /// Ends a trial that ran with altered files, so its outcome does not count against its versions.
    ///
    /// It waits until a sync has healed it, and nothing is blocked.
    package mutating func interruptTrial() -> Activation {
        guard case .trying(let good, let trial, _) = state else { preconditionFailure("no trial is running") }
        let rest = good ?? embedded
        state = .pending(good: rest, next: trial.activating(.atNextLaunch))
        return .interrupted(to: rest, damaged: trial)
    }

    /// A page of this launch was requested: its outcome counts from now on.
    ///
    /// - Returns: false when another launch has replaced it, or its trial is decided.
    package mutating func pageRequested(_ token: LaunchToken) -> Bool {
        count(token, isCounted: true)
        return trial(of: token) != nil
    }

    /// The app stopped in order, or went to the background, before its trial was decided: the launch does not count.
    package mutating func stoppedCleanly(_ token: LaunchToken) {
        count(token, isCounted: false)
    }

    /// The app is in the foreground again: the launch's outcome counts from now on.
    package mutating func cameBack(_ token: LaunchToken) {
        count(token, isCounted: true)
    }

    private mutating func count(_ token: LaunchToken, isCounted: Bool) {
        guard case .trying(let good, let trial, var launch) = state, launch.token == token,
            launch.isCounted != isCounted
        else { return }
        launch.isCounted = isCounted
        launch.launches = min(max(0, launch.launches + (isCounted ? 1 : -1)), SelectionState.TrialLaunch.most)
        state = .trying(good: good, trial: trial, launch: launch)
    }

    /// Gives a machine without any confirmed selection one to run and to fall back to.
    ///
    /// - Returns: false, with nothing changed, when a selection was confirmed.
    package mutating func adopt(_ good: Selection, embedded: Selection?) -> Bool {
        switch state {
        case .empty: state = .settled(good)
        case .pending(nil, let next): state = .pending(good: good, next: next)
        case .trying(nil, let trial, let launch): state = .trying(good: good, trial: trial, launch: launch)
        case .settled, .pending, .trying: return false
        }
        self.embedded = self.embedded ?? embedded
        return true
    }

    /// Drops the pending selection, which was chosen before the app changed: the next sync chooses again.
    package mutating func forgetPending() {
        guard case .pending(let good, _) = state else { return }
        if let good, let rest = withoutWithdrawn(good), rest.contents != good.contents {
            state = .pending(good: good, next: rest)
        } else {
            state = .resting(good)
        }
    }

    /// Rolls back by hand: to the selection confirmed before the present one, else to the embedded one.
    ///
    /// Nil when there is neither.
    package mutating func rollBack(at time: UTCTime) -> Activation? {
        // A selection that cannot be read is no way back.
        earlier = Array(earlier.drop { $0.content.isLost })
        switch state {
        case .empty, .pending(nil, _): return nil
        case .trying where isUnproven: return nil
        case .trying(_, let trial, _):
            return .rolledBack(to: failTrial(because: .person, at: time), from: trial)
        case .settled(let present), .pending(let present?, _):
            guard let target = previous ?? embedded, target.contents != present.contents else { return nil }
            blocks.fail(present.patches.filter { !target.contents.contains($0.content) }, because: .person, at: time)
            state = .settled(target)
            earlier = Array(earlier.dropFirst())
            // The confirmed selection was rolled back.
            confirmedLaunch = nil
            return .rolledBack(to: target, from: present)
        }
    }

    /// Prepares this state to replace a later one, or one that lost files: it keeps the selection that had proved
    /// itself and can be read, less the patches waiting to be withdrawn; else the untried one, for a new trial.
    ///
    /// - Returns: false when the state named selections and none of them is left.
    package mutating func standIn() -> Bool {
        let named = state.kept + earlier + [embedded].compactMap(\.self)
        guard !named.isEmpty else { return true }
        var proven = [state.good].compactMap(\.self) + earlier + [embedded].compactMap(\.self)
        proven = proven.filter { !$0.content.isLost }.compactMap { withoutWithdrawn($0) }
        embedded = embedded.flatMap { $0.content.isLost ? nil : $0 }
        let unproven = state.unproven.flatMap { $0.content.isLost ? nil : $0 }
        if case .pending = state, let unproven {
            proven = proven.compactMap { $0.withoutPatchesMissing(from: unproven) }
            embedded = embedded.flatMap { $0.withoutPatchesMissing(from: unproven) }
        }
        earlier = []
        if let good = proven.first {
            state = .settled(good)
        } else if let unproven {
            state = unproven.patches.isEmpty ? .empty : .pending(good: nil, next: unproven)
        } else {
            state = .empty
            return false
        }
        return true
    }

    /// Moves the running selection into this channel, which now lists it too, though another channel's entries
    /// installed it, or a program that did not know where scripts run.
    package mutating func settleInChannel(_ next: Selection) {
        guard case .settled(let present) = state, present.contents == next.contents,
            !present.isOfThisChannel || present.patches.map(\.place) != next.patches.map(\.place)
        else { return }
        state = .settled(
            Selection(
                number: present.number,
                roleVersion: next.roleVersion,
                patches: next.patches,
                entryKeys: next.entryKeys
            )
        )
    }

    /// - Parameter error: of a script; else the first error of the trial's pages is kept.
    private mutating func failTrial(
        because reason: TrialBlocks.Reason,
        at time: UTCTime,
        error: PageError? = nil
    ) -> Selection? {
        guard case .trying(let good, let trial, let launch) = state else { preconditionFailure("no trial is running") }
        let known = good?.contents ?? []
        let failed = trial.patches.filter { !known.contains($0.content) }
        blocks.fail(failed, because: reason, at: time, error: error ?? launch.error)
        state = .resting(good ?? embedded)
        return state.running
    }
}
