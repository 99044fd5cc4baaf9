package import PatchFormat

extension SelectionMachine {
    package enum Staging: Equatable, Sendable {
        /// It waits for a switch or the next launch.
        case staged
        /// It is what runs already, or what waits already.
        case unchanged
        /// What waited is no longer wanted; what runs stays.
        case unstaged
        /// A trial runs and counts; nothing is staged before it ends.
        case trialRunning
        /// What runs changed while the sync was under way; the next sync chooses again.
        case superseded
        /// It could not be written down so that it would be read again.
        case refused(FormatError)
    }

    package enum Activation: Equatable, Sendable {
        /// Nothing has ever been installed.
        case nothing
        /// A confirmed selection runs. `removed`: patches withdrawn by this activation.
        case run(Selection, removed: [PatchID])
        /// An unproven selection runs; arm the startup timer.
        case tryOut(Selection, LaunchToken)
        /// The trial had its launches and never confirmed; `to` runs.
        case rolledBack(to: Selection?, from: Selection)
        /// The startup timer ended, and there is nothing to go back to: it stays, and may be confirmed yet.
        case unproven(Selection)
        /// The trial's files were altered on this device: it waits again, and `to` runs; nil when there is nothing before it.
        case interrupted(to: Selection?, damaged: Selection)
    }

    package enum Confirmation: Equatable, Sendable {
        /// The trial is the new good selection; clean up what is not kept.
        case confirmed(Selection)
        /// This very launch was confirmed before; nothing changes.
        case alreadyConfirmed(Selection)
        /// Nothing is on trial, and the token is not the one that was confirmed last: this runs, whatever it says.
        case nothingOnTrial(Selection)
        /// The token is not the one of the running trial: some other page or launch speaks.
        case otherLaunch
        case nothingToConfirm
    }
}
