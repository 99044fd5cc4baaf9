package import Gateways
package import PatchFetch
package import PatchFormat
package import PatchStore

/// Reasons why a client of JSPatch's platform failed, or the installed version cannot be run.
package enum PlatformClientError: Error, Equatable, Sendable {
    /// The server or the network failed, or the status was neither 200 nor, for the sync file, 404.
    case fetch(FetchError)
    /// The sync file is malformed.
    case syncFile(FormatError)
    /// The package was rejected.
    case package(PlatformError)
    case file(FileError)
    /// Another update is in progress.
    case lock(StoreLockError)
    /// A file that the client stores is malformed.
    case record(FormatError)

    /// The platform's code of the error, or nil if it has none.
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
