/// Why a server does not serve.
package enum FileServerError: Error, Equatable, Sendable {
    case portInUse(host: String, port: Int)
    /// The host does not resolve, is not an address of this machine, or the port needs a privilege.
    case cannotBind(host: String, port: Int, reason: String)
    /// The listening socket broke while serving.
    case listenerFailed(reason: String)

    package static let listenerClosed = FileServerError.listenerFailed(reason: "it was closed")
}
