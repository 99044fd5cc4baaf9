import PatchChoice
import PatchCrypto
import AssetServer
import PatchFormat
import PatchStore
import PatchSync

/// The course of a trial: its beginning, its first page, and the end of its time.
extension RunningApp {
    /// Returns once the launch is durably counted, or another selection is served instead.
    package func pageShown(_ text: String) async {
        guard let token = LaunchToken(text), isUnopened(token) else { return }
        if !isInBackground {
            trial?.isOpening = true
            await gate.close(waitingUpTo: settings.syncPatience)
        }
        do throws(SyncError) {
            guard isUnopened(token) else { return }
            // In the background the process may end at any time, so the launch does not count.
            if !isInBackground, try await !device.pageRequested(token) { return try await follow() }
            guard isUnopened(token) else { return }
            trial?.isOpened = true
            server.opened(text)
        } catch {
            report(.trouble(error))
            // Continue as with a launch whose beginning cannot be saved.
            await attempt { [self] () throws(SyncError) in try show(try device.state().machine.unsavedLaunch) }
        }
    }

    /// Reports once that a sync chose another selection before the trial was decided.
    func reportReplacement(in machine: SelectionMachine) {
        guard let trial, let serving, !trial.isReplaced,
            let next = machine.replacement(of: serving, in: trial.token)
        else { return }
        self.trial?.isReplaced = true
        report(.superseded(serving, by: next))
    }

    private func isUnopened(_ token: LaunchToken) -> Bool {
        trial.map { $0.token == token && !$0.isOpened } ?? false
    }

    /// Begins the trial at once if it has no pages, or if its timer starts at launch.
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
            // Another process has just confirmed it.
            try await follow()
        }
    }

    /// Heals altered files before a trial with them is given up.
    ///
    /// The trial's time then begins again.
    private func heals(_ token: LaunchToken) async -> Bool {
        guard let updates, let serving, trial?.wasHealed == false else { return false }
        let files = device.damage(to: serving)
        guard !files.isEmpty, await updates.check() != .switchedOff, trial?.token == token else { return false }
        // The sync may end the process. With damaged files this must not count against the version.
        await attempt { [device] () throws(SyncError) in try await device.stoppedCleanly(token) }
        guard trial?.token == token else { return true }
        trial?.timer = startupTimer
        trial?.wasHealed = true
        report(.damaged(files))
        return true
    }
}
