package import AssetServer
package import PatchSync

/// The address of an app's pages, from ``LocalServer/start()`` on.
package struct PagesAddress: Equatable, Sendable {
    package let port: Int
    /// Nil when every program on this machine is let in.
    package let token: AccessToken?
    /// As URLs name it.
    package let host: String

    package init(port: Int, token: AccessToken?, host: String) {
        (self.port, self.token, self.host) = (port, token, host)
    }

    /// Whose cookies go to every port of the machine.
    package static let sharedHost = "127.0.0.1"

    /// What pages and their storage belong to.
    package var origin: String { "http://\(host):\(port)" }

    /// What the app opens.
    package var url: String {
        token.map { "\(origin)/?\(Access.parameter)=\($0.text)" } ?? "\(origin)/"
    }
}

extension DeviceConfiguration {
    /// The port that the app's pages want: the one of the settings, else the one of the first start, else the app's own.
    ///
    /// - Parameter asked: 0 for any port.
    package func pagesPort(asked: Int?) -> Int { asked ?? port ?? StablePort.port(for: app) }
}
