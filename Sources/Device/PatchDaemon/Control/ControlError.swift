package import PatchFormat
package import HTTPFiles
package import PatchStore
package import SystemPackage

/// The reason why the local socket is not available.
package enum ControlError: Error, Equatable, Sendable {
    /// The folder of the socket, or the file with its name, cannot be used.
    case file(FileError)
    /// A file that is not a socket has this name. It is not changed.
    case notASocket(FilePath)
    /// Another process listens on this socket.
    case answered(FilePath)
    /// Another process has locked the file next to the socket.
    case locked(FilePath)
    /// The path is longer than the system permits (unix(7)).
    case pathTooLong(FilePath, limit: Int)
    case cannotListen(FilePath, Errno)
    case server(FileServerError)
}

extension ControlError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let error): "the socket's folder: \(error)"
        case .notASocket(let path): "\(path) is not a socket, and is not changed"
        case .answered(let path): "another process answers at \(path)"
        case .locked(let path): "\(path) is locked by another process"
        case .pathTooLong(let path, let limit): "\(path) is longer than \(limit) bytes, the limit for a socket's path"
        case .cannotListen(let path, let error): "\(path): cannot listen there: \(error)"
        case .server(let error): "the socket broke: \(error.reason)"
        }
    }
}

extension Failure {
    package init(_ error: ControlError) {
        switch error {
        case .file, .cannotListen:
            self.init(
                error.description,
                hint: "its folder must be writable by the user that runs this.",
                code: .disk
            )
        case .notASocket:
            self.init(error.description, hint: "move it away, or choose another path.", code: .conflict)
        case .locked:
            self.init(
                error.description,
                hint: "`fuser -v` shows the process; end it, or choose another path.",
                code: .busy
            )
        case .answered: self.init(error.description, hint: "stop it, or choose another path.", code: .busy)
        case .pathTooLong: self.init(error.description, hint: "choose a shorter one.", code: .usage)
        case .server: self.init(error.description)
        }
    }
}

extension FileServerError {
    fileprivate var reason: String {
        switch self {
        case .portInUse: "its address is in use"
        case .cannotBind(_, _, let reason), .listenerFailed(let reason): reason
        }
    }
}
