/// An error that keeps a server from serving.
package enum FileServerError: Error, Equatable, Sendable {
    case portInUse(host: String, port: Int)
    /// The host does not resolve, is not an address of this machine, or the port needs a privilege.
    case cannotBind(host: String, port: Int, reason: String)
    /// The listening socket failed while serving.
    case listenerFailed(reason: String)

    package static let listenerClosed = FileServerError.listenerFailed(reason: "it was closed")
}

extension FileServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .portInUse(let host, let port): "port \(port) of \(host) is taken by another program"
        case .cannotBind(let host, let port, let reason): "cannot listen on port \(port) of \(host): \(reason)"
        case .listenerFailed(let reason): "the listening socket broke: \(reason)"
        }
    }
}
