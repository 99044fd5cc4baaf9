import NIOCore

extension SocketAddress {
    /// The address as in a URL: `127.0.0.1:8080`, `[::1]:8080`.
    var authority: String {
        let host = ipAddress ?? "localhost"
        return (host.contains(":") ? "[\(host)]" : host) + ":\(port ?? 0)"
    }
}
