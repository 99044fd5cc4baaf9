/// Why what stands at a place is not replaced.
package enum ReplacementRefusal: Equatable, Sendable {
    case noFolder
    /// It lacks the file that each folder of its sort has.
    case unmarked(wanted: String)
    /// It holds something that this program did not put there.
    case foreign(String)
    /// It is, holds or lies in a folder that stays.
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
