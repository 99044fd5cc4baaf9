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
