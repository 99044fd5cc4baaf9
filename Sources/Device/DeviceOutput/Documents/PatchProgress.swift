package import PatchChoice

/// The progress of a patch in plain words; the names of its states are for programs.
package enum PatchProgress {
    /// When a downloaded version starts.
    package enum Start: CaseIterable, Sendable {
        /// Unknown: the version does not belong to a pending selection.
        case unknown
        case atNextLaunch
        /// The version is mandatory, so a running app switches by itself.
        case atOnce
        /// The device's owner postponed it, or it is outside a maintenance window.
        case held
        /// After the trial of another selection.
        case afterTrial
    }

    /// - Parameters:
    ///   - first: the first state in this sync, or nil if `last` is its only state.
    ///   - last: the state now.
    package static func words(from first: PatchState?, to last: PatchState, start: Start) -> String {
        switch last {
        case .success: prefix(first) + "installed"
        case .unInstall: prefix(first) + "downloaded, \(words(start))"
        case .add: "new, not downloaded"
        case .update: "another version, not downloaded"
        case .fileNotExist: origin(first) + "a file is missing"
        case .fileNotMatch: origin(first) + "a file is altered"
        case .unknownError: origin(first) + "unusable"
        }
    }

    private static func prefix(_ first: PatchState?) -> String {
        switch first {
        case .fileNotExist, .fileNotMatch, .unknownError: "repaired, "
        case .add, .update, .success, .unInstall, nil: origin(first)
        }
    }

    private static func origin(_ first: PatchState?) -> String {
        switch first {
        case .add: "new, "
        case .update: "another version, "
        case .success, .unInstall, .fileNotExist, .fileNotMatch, .unknownError, nil: ""
        }
    }

    private static func words(_ start: Start) -> String {
        switch start {
        case .unknown: "waits for its start"
        case .atNextLaunch: "starts at the next launch"
        case .atOnce: "starts at once"
        case .held: "must not start yet"
        case .afterTrial: "waits for the end of the trial"
        }
    }
}

extension ActivationTime {
    /// When a pending version starts.
    package var start: PatchProgress.Start {
        switch self {
        case .atOnce: .atOnce
        case .anyTime, .atReload, .atNextLaunch: .atNextLaunch
        }
    }
}
