import PatchChoice
import PatchSync

/// The trial that a launch runs, and how far it has come.
struct RunningTrial {
    let token: LaunchToken
    var timer: StartupTimer
    /// Whether a page of it is asked for, or none has to be: its launch counts, and its timer goes.
    var isOpened = false
    /// Whether that is being written down.
    var isOpening = false
    /// Whether a sync was asked to heal its files: its launch does not count any more.
    var wasHealed = false
    /// Whether its time is over, and it stays for want of another.
    var isUnproven = false
    /// Whether it was reported that another selection replaces it.
    var isReplaced = false

    init(token: LaunchToken, timer: StartupTimer) {
        (self.token, self.timer) = (token, timer)
    }

    /// Whether a process that ends now counts against it.
    var isCounting: Bool { (isOpened || isOpening) && !wasHealed && !isUnproven }

    /// In how much time its timer is asked next; nil while that does not go.
    var nextQuestion: Duration? { isOpened && !isUnproven ? timer.nextQuestion : nil }

    /// Whether its time is up.
    mutating func hasEnded(at now: Duration) -> Bool {
        isOpened && !isUnproven && timer.hasEnded(at: now)
    }
}
