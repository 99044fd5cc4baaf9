import PatchFormat
import PatchStore
package import SystemPackage

/// A `state.json` that could not be read, and what the device goes by in its place.
///
/// What was decided last is lost with it: a block, a roll back, a confirmation. What waited or was on trial in the copy is
/// chosen anew. Trust is kept apart, so no older list is taken than before.
package struct StateFault: Equatable, Sendable {
    package enum Standby: String, Sendable {
        /// The state before the last change, or what is left of this one.
        case previous
        /// What the app ships.
        case embedded
        /// Nothing is installed as far as anybody knows; what lies there is used by the next sync.
        case nothing
    }

    package let file: FilePath
    package let error: SyncError
    package let standby: Standby
}

extension StateFault: CustomStringConvertible {
    package var description: String {
        let goesBy =
            switch standby {
            case .previous: "what proved itself before runs; what waited or was on trial is chosen anew"
            case .embedded: "what the app ships runs"
            case .nothing: "nothing counts as installed until the next sync"
            }
        return "\(error.description); \(goesBy)"
    }
}

extension SyncError {
    /// Whether the file itself is wrong, so that another try would find the same.
    var isOfTheFile: Bool {
        switch self {
        case .format, .file(.tooLarge), .file(.notRegular): true
        case .file(.io(.read, _, let errno)): errno == .ioError
        default: false
        }
    }
}
