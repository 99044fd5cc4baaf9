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
        case .noFolder: "is no folder"
        case .unmarked(let wanted): "has no \(wanted), so patchsign did not make it"
        case .foreign(let name): "holds \(name), which patchsign did not put there"
        case .kept(let folder): "is, holds or lies in \(folder.role) (\(folder.path))"
        }
    }
}
