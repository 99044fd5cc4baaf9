package import AssetServer

extension LocalServer {
    /// Where the app is, from ``start()`` on.
    package struct Address: Equatable, Sendable {
        package let port: Int
        /// Nil when every program on this machine is let in.
        package let token: AccessToken?
        /// As URLs name it.
        package var host = Address.sharedHost

        /// Whose cookies go to every port of the machine.
        package static let sharedHost = "127.0.0.1"

        /// What pages and their storage belong to.
        package var origin: String { "http://\(host):\(port)" }

        /// What the app opens.
        package var url: String {
            token.map { "\(origin)/?\(Access.parameter)=\($0.text)" } ?? "\(origin)/"
        }
    }
}
