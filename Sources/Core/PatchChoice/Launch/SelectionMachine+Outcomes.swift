package import PatchFormat

extension SelectionMachine {
    package enum Staging: Equatable, Sendable {
        /// It waits for a switch or the next launch.
        case staged
        /// It runs or is pending already.
        case unchanged
        /// The pending selection is no longer wanted; the running one stays.
        case unstaged
        /// A trial runs and counts; nothing is staged before it ends.
        case trialRunning
        /// The running selection changed during the sync; the next sync chooses again.
        case superseded
        /// It could not be written so that it can be read again.
        case refused(FormatError)
    }

    package enum Activation: Equatable, Sendable {
        /// Nothing has ever been installed.
        case nothing
        /// A confirmed selection runs. `removed`: patches withdrawn by this activation.
        case run(Selection, removed: [PatchID])
        /// An unproven selection runs; arm the startup timer.
        case tryOut(Selection, LaunchToken)
        /// The trial had its launches without a confirmation; `to` runs.
        case rolledBack(to: Selection?, from: Selection)
        /// The startup timer ended, and there is nothing to go back to: it stays, and may still be confirmed.
        case unproven(Selection)
        /// The trial's files were altered on this device: it is pending again, and `to` runs; nil when there is nothing
        /// before it.
        case interrupted(to: Selection?, damaged: Selection)
    }

    /// What a script that failed in a page says of what runs.
    package enum ScriptVerdict: Equatable, Sendable {
        /// A script of what proved itself: nothing changes.
        case told
        /// Of the trial, which has failed.
        case ends(Activation)
        /// Of nothing that this launch runs.
        case otherLaunch
    }

    package enum Confirmation: Equatable, Sendable {
        /// The trial is the new good selection; clean up the others that are not kept.
        case confirmed(Selection)
        /// This very launch was confirmed before; nothing changes.
        case alreadyConfirmed(Selection)
        /// Nothing is on trial, and the token is not the last confirmed one: this selection runs in any case.
        case nothingOnTrial(Selection)
        /// The token is not the running trial's: it comes from another page or launch.
        case otherLaunch
        case nothingToConfirm
    }
}

extension SelectionMachine {
    /// What runs at a launch whose beginning cannot be written down: on a full or read-only disk.
    ///
    /// A trial that is not counted could go on for ever, so what was confirmed runs; an unproven selection only where there
    /// is nothing else, for a device always runs something that was approved.
    package var unsavedLaunch: Activation {
        switch state {
        case .empty: .nothing
        case .settled(let good), .trying(let good?, _, _): .run(good, removed: [])
        case .pending(let good?, let next): .run(withoutWithdrawn(good) ?? next, removed: [])
        case .pending(nil, let next): .run(next, removed: [])
        case .trying(nil, let trial, _): .run(trial, removed: [])
        }
    }
}
