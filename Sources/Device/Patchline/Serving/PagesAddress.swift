package import AssetServer
package import PatchSync

/// The address of an app's pages, valid once ``LocalServer/start()`` returns.
package struct PagesAddress: Equatable, Sendable {
    package let port: Int
    /// The access token, or nil if every program on this machine has access.
    package let token: AccessToken?
    /// The host as written in URLs.
    package let host: String

    package init(port: Int, token: AccessToken?, host: String) {
        (self.port, self.token, self.host) = (port, token, host)
    }

    /// A host whose cookies are sent to every port of the machine.
    package static let sharedHost = "127.0.0.1"

    /// The origin of the pages and their storage.
    package var origin: String { "http://\(host):\(port)" }

    /// The URL that the app opens.
    package var url: String {
        token.map { "\(origin)/?\(Access.parameter)=\($0.text)" } ?? "\(origin)/"
    }
}

extension DeviceConfiguration {
    /// The port for the app's pages: the requested one, else the one of the first start, else the app's own.
    ///
    /// - Parameter asked: The requested port, or 0 for any port.
    package func pagesPort(asked: Int?) -> Int { asked ?? port ?? StablePort.port(for: app) }
}
