package import PatchFormat
package import PatchStore
package import SystemPackage

/// Why a tree was not exported; the folder that it goes to holds what it held, or a state that is older and whole.
package enum ExportError: Error, Equatable, Sendable {
    case server(ServerError)
    /// Another process exports to this folder.
    case locked(StoreLockError)
    /// The folder holds a tree of the same app with another first root of trust.
    case otherRoot(AppID, FilePath)
    /// The folder says more than what would be exported: devices would take that for an old state.
    case older(AppID, timestamp: Int, inFolder: Int)
}

extension ExportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .server(let error): error.description
        case .locked(let error): error.description
        case .otherRoot(let app, let path): "\(path) holds a tree of \(app) with another root of trust"
        case .older(let app, let timestamp, let found):
            "timestamp \(timestamp) of \(app) is older than \(found), which the folder has: devices would not take it"
        }
    }
}
