import PatchTrust
package import NIOHTTP1

/// The names under which an app's pages are served.
package enum ServedName: Equatable, Sendable {
    /// A host of the app's own, `LABEL.localhost`: its cookies go to no other program of this machine.
    case own(String)
    /// 127.0.0.1, `localhost` and `[::1]`, which every program of this machine shares, cookies included. For apps whose web view
    /// resolves no other name, and only where that was asked for.
    case shared
}

/// Who is let in, and what every answer tells a browser to keep to itself.
package struct Access: Sendable {
    /// What a first URL carries, and the cookie after it.
    package static let parameter = "cdvToken"

    /// Nil lets every program on this machine in.
    package var token: AccessToken?
    /// The names under which the server may be asked, without a port: a page elsewhere whose name leads here (DNS
    /// rebinding) is refused, and no cookie is set or taken under another.
    package var hosts: Set<String>
    /// Other origins that may ask and read, `http://127.0.0.1:3000`; none by default.
    package var origins: Set<String> = []
    /// Fields of every answer.
    package private(set) var securityHeaders: HTTPHeaders = [
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": "frame-ancestors 'self'",
        // The browsers' default: embeds of video players need an origin, and which release a request belongs to is read off
        // the Referer of requests to this origin.
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        // A page's log-in window keeps its way back.
        "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
    ]

    /// Lower-case names that the device's owner decided about, which no release changes.
    package private(set) var ownNames: Set<String> = []

    /// Names that every program on this machine shares.
    package static let loopbackHosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]

    package init(token: AccessToken?, under name: ServedName) {
        self.token = token
        hosts =
            switch name {
            case .own(let host): [host]
            case .shared: Self.loopbackHosts
            }
    }

    /// - Parameter value: nil drops the field.
    package mutating func setHeader(_ name: String, to value: String?) {
        ownNames.insert(name.lowercased())
        securityHeaders.remove(name: name)
        if let value { securityHeaders.add(name: name, value: value) }
    }

    /// Ports share a host's cookies, so the port is part of the name (M22).
    package static func cookie(port: Int) -> String { "\(parameter)_\(port)" }
}

/// One time that the server listens: from a start to the next stop.
package struct Session: Sendable {
    package let port: Int
    /// What the cookie holds; it tells nothing of the token and ends with the session, so that a stolen cookie opens nothing
    /// later.
    package let pass: AccessToken

    package init(port: Int, pass: AccessToken = .make()) {
        self.port = port
        self.pass = pass
    }
}
