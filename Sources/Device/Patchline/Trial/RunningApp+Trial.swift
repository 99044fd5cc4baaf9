import PatchChoice
import PatchCrypto
import AssetServer
import PatchFormat
import PatchStore
import PatchSync

/// How a trial begins, when its first page is shown, and how its time ends.
extension RunningApp {
    /// Returns once the launch counts, durably, or something else is served in its place.
    package func pageShown(_ text: String) async {
        guard let token = LaunchToken(text), isUnopened(token) else { return }
        if !isInBackground {
            trial?.isOpening = true
            await gate.close(waitingUpTo: settings.syncPatience)
        }
        do throws(SyncError) {
            guard isUnopened(token) else { return }
            // In the background it may end whenever it likes.
            if !isInBackground, try await !device.pageRequested(token) { return try await follow() }
            guard isUnopened(token) else { return }
            trial?.isOpened = true
            server.opened(text)
        } catch {
            report(.trouble(error))
            // As a launch whose beginning cannot be written down.
            await attempt { [self] () throws(SyncError) in try show(try device.state().machine.unsavedLaunch) }
        }
    }

    /// Reports once that a sync chose another selection before the trial was decided.
    func tellReplacement(in machine: SelectionMachine) {
        guard let trial, let serving, !trial.isReplaced,
            let next = machine.replacement(of: serving, in: trial.token)
        else { return }
        self.trial?.isReplaced = true
        report(.superseded(serving, by: next))
    }

    private func isUnopened(_ token: LaunchToken) -> Bool {
        trial.map { $0.token == token && !$0.isOpened } ?? false
    }

    /// Nobody can ask for a page of it, or nobody is to be waited for.
    func openIfPageless() async {
        guard let trial, let serving else { return }
        guard settings.startupTimer == .launch || serving.bundle(settings.bundle) == nil else { return }
        await pageShown(trial.token.text)
    }

    func endTrialIfDue() async throws(SyncError) {
        let turnedAway = turnedAway()
        if turnedAway != seenTurnedAway {
            seenTurnedAway = turnedAway
            trial?.timer.leaveOut(until: time)
            return
        }
        guard let token = trial?.token, trial?.hasEnded(at: time) == true else { return }
        if await heals(token) { return }
        if let activation = try await device.timerEnded(token) {
            try show(activation)
        } else {
            // It was confirmed a moment ago, by another process.
            try await follow()
        }
    }

    /// Files that were altered on this device are healed before a trial of them is given up; its time then begins anew.
    private func heals(_ token: LaunchToken) async -> Bool {
        guard let updates, let serving, trial?.wasHealed == false else { return false }
        let files = device.damage(to: serving)
        guard !files.isEmpty, await updates.check() != .switchedOff, trial?.token == token else { return false }
        // The sync may run: a process that ends in it says nothing of a version whose files are damaged.
        await attempt { [device] () throws(SyncError) in try await device.stoppedCleanly(token) }
        guard trial?.token == token else { return true }
        trial?.timer = startupTimer
        trial?.wasHealed = true
        report(.damaged(files))
        return true
    }
}
