package import Gateways
package import PatchFetch
package import PatchFormat
package import PatchStore

/// Why a client of JSPatch's platform did not do what it was told, or what is installed cannot be run.
package enum PlatformClientError: Error, Equatable, Sendable {
    /// The server's or the network's; also every answer but 200, and 404 for the sync file.
    case fetch(FetchError)
    /// What the server tells is not what it may tell.
    case syncFile(FormatError)
    /// What came is not taken.
    case package(PlatformError)
    case file(FileError)
    /// Another update is under way.
    case lock(StoreLockError)
    /// A file in which the client keeps something says something else.
    case record(FormatError)

    /// Nil where the platform has none.
    package var code: PlatformError.Code? {
        switch self {
        case .fetch(.cancelled), .syncFile, .file, .lock, .record: nil
        case .fetch: .network
        case .package(let error): error.code
        }
    }
}

extension PlatformClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fetch(let error): error.description
        case .syncFile(let error): error.description
        case .package(let error): error.description
        case .file(let error): error.description
        case .lock(let error): error.description
        case .record(let error): error.description
        }
    }
}
