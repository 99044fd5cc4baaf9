import PatchChoice
import PatchSync

/// The trial of a launch, and its progress.
struct RunningTrial {
    let token: LaunchToken
    var timer: StartupTimer
    /// Whether its first page was requested, or it needs none.
    ///
    /// Its launch then counts, and its timer runs.
    var isOpened = false
    /// Whether its beginning is being saved.
    var isOpening = false
    /// Whether a sync was requested to heal its files.
    ///
    /// Its launch then no longer counts.
    var wasHealed = false
    /// Whether its time is over, and it stays because there is no other selection.
    var isUnproven = false
    /// Whether it was reported that another selection replaces it.
    var isReplaced = false

    init(token: LaunchToken, timer: StartupTimer) {
        (self.token, self.timer) = (token, timer)
    }

    /// Whether the end of the process would count against the trial now.
    var isCounting: Bool { (isOpened || isOpening) && !wasHealed && !isUnproven }

    /// The time until the timer must be checked again, or nil while it does not run.
    var nextQuestion: Duration? { isOpened && !isUnproven ? timer.nextQuestion : nil }

    /// Whether its time is up.
    mutating func hasEnded(at now: Duration) -> Bool {
        isOpened && !isUnproven && timer.hasEnded(at: now)
    }
}
