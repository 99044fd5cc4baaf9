/// The reason why an existing file or folder is not replaced.
package enum ReplacementRefusal: Equatable, Sendable {
    case noFolder
    /// It lacks the file that every folder of its kind has.
    case unmarked(wanted: String)
    /// It contains a file that this program did not create.
    case foreign(String)
    /// It is, contains or is inside a folder that must be kept.
    case kept(KeptFolder)
}

extension ReplacementRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noFolder: "is not a folder"
        case .unmarked(let wanted): "has no \(wanted), so patchsign did not make it"
        case .foreign(let name): "contains \(name), which patchsign did not write"
        case .kept(let folder): "is, contains or is inside \(folder.role) (\(folder.path))"
        }
    }
}
