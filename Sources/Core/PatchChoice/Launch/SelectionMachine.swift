package import PatchFormat

/// The selections of one channel on one device, and all events that change them.
///
/// A pure value: the caller saves the new value and then performs the action.
package struct SelectionMachine: Equatable, Sendable {
    /// The number of launches of a trial before it fails.
    ///
    /// A power cut during the first one causes no rollback.
    package static let defaultLaunchLimit = 2

    /// The number of previously confirmed selections that are kept.
    package static let defaultKeep = 1
    package static let keepRange = 0...10

    package internal(set) var state: SelectionState
    /// The selections confirmed before the present one, newest first.
    ///
    /// `rollback` activates the first one.
    package internal(set) var earlier: [Selection]
    package internal(set) var blocks: TrialBlocks
    /// The embedded selection without withdrawn patches.
    ///
    /// `rollback` activates it if no selection was confirmed before.
    package internal(set) var embedded: Selection?
    /// The launch that was confirmed last.
    ///
    /// Its confirmation may arrive twice.
    package private(set) var confirmedLaunch: LaunchToken?
    /// Patches of ``state`` that a list withdrew by name.
    ///
    /// ``earlier`` and ``embedded`` contain none of them.
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
                // Its rules may have changed, for example to mandatory.
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
            // A selection that only removes patches needs no trial. The next launch activates it.
            let isWithdrawn = good == nil && next.patches.isEmpty
            state = .pending(good: isWithdrawn ? trial : good, next: next)
            return .staged
        }
    }

    /// Starts the app.
    ///
    /// - Parameters:
    ///   - isPendingDamaged: Whether files of ``awaitedTrial`` are missing or altered. The trial then waits until a sync has
    ///     repaired it, and the selection before it runs.
    ///   - isHeld: Whether the pending selection must not start now, so that the active one keeps running.
    ///   - counting: When a trial begins to count this launch.
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

    /// Switches at a page's reload or on request.
    ///
    /// Returns nil if no pending selection may start now.
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
        // A withdrawn patch must not return, regardless of how this activation ends.
        let rest = good.flatMap { self.rest(of: $0, beside: next) }
        earlier = earlier.compactMap { $0.withoutPatchesMissing(from: next) }
        embedded = embedded.flatMap { $0.withoutPatchesMissing(from: next) }
        defer { forgetWithdrawn() }
        let proven = [good].compactMap(\.self) + (withdrawn.isEmpty ? [] : earlier + [embedded].compactMap(\.self))
        if good != nil, proven.contains(where: { $0.contents.isSuperset(of: next.contents) }) {
            // Only patches were withdrawn: all remaining ones are confirmed.
            state = .resting(next.patches.isEmpty ? nil : next)
            earlier.removeAll { $0.contents == next.contents }
            return .run(next, removed: removed)
        }
        let launch = SelectionState.TrialLaunch(token: token, launches: 0)
        // A selection combined from several ones is tried like any new one, and is not its own rollback target.
        let before = rest?.contents == next.contents ? earlier.first ?? embedded : rest
        state = .trying(good: before, trial: next, launch: launch.next(token, isCounted: counting.isAtOnce(for: next)))
        return .tryOut(next, token)
    }

    /// Confirms the launch with this token.
    ///
    /// - Parameter keep: The number of previously confirmed selections to keep.
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

    /// Ends the startup timer of the launch with this token.
    ///
    /// Returns nil if that launch is no longer on trial.
    package mutating func timerEnded(_ token: LaunchToken, at time: UTCTime) -> Activation? {
        guard case .trying(_, let trial, let launch) = state, launch.token == token else { return nil }
        if isUnproven { return .unproven(trial) }
        return .rolledBack(to: failTrial(because: .timer, at: time), from: trial)
    }

    /// Handles a script error in a page of the launch with this token.
    ///
    /// The token is nil for a page of a confirmed selection.
    ///
    /// The error ends a trial at once, as a page that is never ready does after its time. A trial without a rollback target stays.
    ///
    /// - Parameter error: The script's error, stored with the block.
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

    /// The verdict for a script that a page could not load.
    ///
    /// This does not count against the script.
    package func verdict(onUnloaded script: PatchContent, in token: LaunchToken?) -> ScriptVerdict {
        var machine = self
        // A failure that would end the trial is only reported.
        return machine.scriptFailed(script, in: token, at: UTCTime(seconds: 0)) == .otherLaunch ? .otherLaunch : .told
    }

    /// Interrupts a trial that ran with altered files, so that its outcome does not count against its versions.
    ///
    /// The trial waits until a sync has repaired it, and no version is blocked.
    package mutating func interruptTrial() -> Activation {
        guard case .trying(let good, let trial, _) = state else { preconditionFailure("no trial is running") }
        let rest = good ?? embedded
        state = .pending(good: rest, next: trial.activating(.atNextLaunch))
        return .interrupted(to: rest, damaged: trial)
    }

    /// Records that a page of this launch was requested.
    ///
    /// Its outcome counts from now on.
    ///
    /// - Returns: false if another launch has replaced it, or if its trial is decided.
    package mutating func pageRequested(_ token: LaunchToken) -> Bool {
        count(token, isCounted: true)
        return trial(of: token) != nil
    }

    /// Records that the app stopped in order, or moved to the background, before its trial was decided.
    ///
    /// The launch does not count.
    package mutating func stoppedCleanly(_ token: LaunchToken) {
        count(token, isCounted: false)
    }

    /// Records that the app is in the foreground again.
    ///
    /// The launch's outcome counts from now on.
    package mutating func recordForeground(_ token: LaunchToken) {
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

    /// Gives a machine without a confirmed selection one to run and to fall back to.
    ///
    /// - Returns: false, with nothing changed, if a selection was confirmed.
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

    /// Drops the pending selection, which was chosen before the app changed.
    ///
    /// The next sync chooses again.
    package mutating func forgetPending() {
        guard case .pending(let good, _) = state else { return }
        if let good, let rest = withoutWithdrawn(good), rest.contents != good.contents {
            state = .pending(good: good, next: rest)
        } else {
            state = .resting(good)
        }
    }

    /// Rolls back by hand, to the selection confirmed before the present one, else to the embedded one.
    ///
    /// Returns nil if neither exists.
    package mutating func rollBack(at time: UTCTime) -> Activation? {
        // An unreadable selection is not a rollback target.
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

    /// Prepares this state to replace a later one, or one that lost files.
    ///
    /// It keeps the confirmed selection that is readable, without patches waiting to be withdrawn. If there is none, the
    /// unconfirmed selection becomes pending for a new trial.
    ///
    /// - Returns: false if the state referred to selections and none of them is left.
    package mutating func recoverSelection() -> Bool {
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

    /// Moves the active selection into this channel, which now lists it too.
    ///
    /// Entries of another channel installed it before, or a program that did not know where scripts run.
    package mutating func settleInChannel(_ next: Selection) {
        guard case .settled(let present) = state, present.contents == next.contents,
            !present.isFromThisChannel || present.patches.map(\.place) != next.patches.map(\.place)
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

    /// - Parameter error: A script's error, or nil to keep the first error of the trial's pages.
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
