package import PatchFormat
package import PatchStore
package import PatchTrust

/// The reason why a signed release cannot be read or is not valid.
package enum ReleaseError: Error, Equatable, Sendable {
    case file(FileError)
    case format(FormatError)
    case trust(TrustError)
    /// A document or object that the release names exists neither in it nor in another allowed place.
    case missing(String)
}

extension ReleaseError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .format(let error): error.description
        case .trust(let error): error.description
        case .missing(let what): "\(what) is missing from the release"
        }
    }
}
