import PatchFormat
import PatchStore
package import SystemPackage

/// A `state.json` that could not be read, and the state that the device uses instead.
///
/// The last change is lost with it: a block, a rollback, or a confirmation. A pending selection or a trial of the copy is
/// chosen again. Trust is stored separately, so an older list than before is still rejected.
package struct StateFault: Equatable, Sendable {
    package enum Standby: String, CaseIterable, Sendable {
        /// The state before the last change, or the readable part of this one.
        case previous
        /// The embedded selection.
        case embedded
        /// No installed version is known. The next sync uses the files on disk.
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
            case .previous: "the last confirmed version runs; a pending version or trial is chosen again"
            case .embedded: "the embedded version runs"
            case .nothing: "nothing counts as installed until the next sync"
            }
        return "\(error.description); \(goesBy)"
    }
}

extension SyncError {
    /// Whether the file itself is wrong, so that reading it again would fail too.
    var isFileFault: Bool {
        switch self {
        // A file that root left behind stays unreadable too. The next change replaces it.
        case .format, .file(.tooLarge), .file(.notRegular), .file(.permission(.read, _)): true
        case .file(.io(.read, _, let errno)): errno == .ioError
        default: false
        }
    }
}
