package import PatchFormat

extension SelectionMachine {
    package enum Staging: Equatable, Sendable {
        /// It is pending until a switch or the next launch.
        case staged
        /// It is already active or pending.
        case unchanged
        /// The pending selection is no longer wanted. The active one stays.
        case unstaged
        /// A counted trial is running. New selections are staged after it ends.
        case trialRunning
        /// The active selection changed during the sync. The next sync chooses again.
        case superseded
        /// It could not be written in a readable form.
        case refused(FormatError)
    }

    package enum Activation: Equatable, Sendable {
        /// No version was ever installed.
        case nothing
        /// A confirmed selection runs. `removed` lists the patches that this activation withdraws.
        case run(Selection, removed: [PatchID])
        /// An unconfirmed selection runs. The caller starts the startup timer.
        case tryOut(Selection, LaunchToken)
        /// The trial used up its launches without a confirmation, and `to` runs.
        case rolledBack(to: Selection?, from: Selection)
        /// The startup timer ended, but there is no rollback target. The selection stays and may still be confirmed.
        case unproven(Selection)
        /// The trial's files were altered on this device. It is pending again, and `to` runs, or nil if there is no earlier one.
        case interrupted(to: Selection?, damaged: Selection)
    }

    /// The consequence of a script error in a page.
    package enum ScriptVerdict: Equatable, Sendable {
        /// The script belongs to a confirmed selection, or its trial has no rollback target. The state does not change.
        case told
        /// The script belongs to the trial, which has failed.
        case ends(Activation)
        /// The script does not belong to this launch.
        case otherLaunch
    }

    package enum Confirmation: Equatable, Sendable {
        /// The trial is confirmed. The caller removes the selections that are not kept.
        case confirmed(Selection)
        /// The same launch was confirmed before. The state does not change.
        case alreadyConfirmed(Selection)
        /// No trial is running, and the token differs from the last confirmed one. This selection runs in any case.
        case nothingOnTrial(Selection)
        /// The token differs from the running trial's. It belongs to another page or launch.
        case otherLaunch
        case nothingToConfirm
    }
}

extension SelectionMachine {
    /// The selection to run if a launch cannot be recorded because the disk is full or read-only.
    ///
    /// A trial whose launches are not counted would never end, so the confirmed selection runs. An unconfirmed selection runs
    /// only if there is no other, because a device always runs an approved version.
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
