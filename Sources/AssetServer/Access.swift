package import NIOHTTP1

/// Who is let in, and what every answer tells a browser to keep to itself.
package struct Access: Sendable {
    /// What a first URL carries, and the cookie after it.
    package static let parameter = "cdvToken"

    /// Nil lets every program on this machine in.
    package var token: AccessToken?
    /// The names under which the server may be asked, without a port: a page elsewhere whose name leads here (DNS
    /// rebinding) is refused.
    package var hosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]
    /// Other origins that may ask and read, `http://127.0.0.1:3000`; none by default.
    package var origins: Set<String> = []
    /// Fields of every answer.
    package private(set) var securityHeaders: HTTPHeaders = [
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": "frame-ancestors 'self'",
        // Which release a request belongs to is read off its Referer.
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        // A page's log-in window keeps its way back.
        "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
    ]

    package init(token: AccessToken?) {
        self.token = token
    }

    /// - Parameter value: nil drops the field.
    package mutating func setHeader(_ name: String, to value: String?) {
        securityHeaders.remove(name: name)
        if let value { securityHeaders.add(name: name, value: value) }
    }

    /// Ports share a host's cookies, so the port is part of the name (M22).
    package static func cookie(port: Int) -> String { "\(parameter)_\(port)" }
}
