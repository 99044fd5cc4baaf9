package import NIOHTTP1
import PatchFormat
import PatchCrypto

/// The names under which an app's pages are served.
package enum ServedName: Equatable, Sendable {
    /// A host of the app's own, `LABEL.localhost`. Its cookies are not sent to other programs of this machine.
    case own(String)
    /// 127.0.0.1, `localhost` and `[::1]`, which every program of this machine shares, including their cookies. For apps whose web
    /// view resolves no other name. Used only on request.
    case shared
}

/// The rules of access, and the header fields that restrict sharing in browsers.
package struct Access: Sendable {
    /// The name of the token's parameter in the first URL, and the prefix of the cookie's name.
    package static let parameter = "cdvToken"

    /// The token, or nil to give every program on this machine access.
    package var token: AccessToken?
    /// How long a browser keeps the cookie of an app's own host, in seconds: 400 days, the most that browsers keep any.
    static let cookieAge = 34_560_000
    /// The accepted host names, without a port.
    ///
    /// Requests under other names are rejected, including a page elsewhere whose name resolves to this machine (DNS rebinding). No
    /// cookie is set or accepted under another name.
    package var hosts: Set<String>
    /// Other origins with access, such as `http://127.0.0.1:3000`.
    ///
    /// None by default.
    package var origins: Set<String> = []
    /// Header fields of every response.
    package private(set) var securityHeaders: HTTPHeaders = [
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": "frame-ancestors 'self'",
        // The browsers' default. Video players need an origin for embedding, and the Referer of requests to this origin determines
        // their release.
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        // A page's log-in window must be able to return to the page.
        "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
    ]

    /// Lower-case names of the fields that the device's owner sets.
    ///
    /// No release changes them.
    package private(set) var ownNames: Set<String> = []

    /// Host names that every program on this machine shares.
    package static let loopbackHosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]

    package init(token: AccessToken?, under name: ServedName) {
        self.token = token
        hosts =
            switch name {
            case .own(let host): [host]
            case .shared: Self.loopbackHosts
            }
    }

    /// - Parameter value: The value, or nil to remove the field. A Content-Security-Policy also allows the inline script of the
    ///   release stamp.
    package mutating func setHeader(_ name: String, to value: String?) {
        ownNames.insert(name.lowercased())
        securityHeaders.remove(name: name)
        guard let value else { return }
        let isPolicy = name.lowercased() == "content-security-policy"
        let sent = isPolicy ? ContentPolicy.allowing(StampScript.sha256, in: value) : value
        securityHeaders.add(name: name, value: sent)
    }

    /// Whether pages have a host of their own.
    ///
    /// Other programs of this machine do not receive its cookies.
    var hasOwnHost: Bool { hosts.isDisjoint(with: Self.loopbackHosts) }

    /// Returns the value of a session's cookie.
    ///
    /// Under the app's own host it is derived from the token, so that pages, their workers and a restarted browser keep access
    /// after a restart of the server. A new token revokes it. Under a shared host each session has its own value, because another
    /// program that listens on the port would receive it.
    func pass() -> AccessToken {
        guard hasOwnHost, let token else { return .make() }
        return Self.derived(from: token, "patchline-cookie-v1")
    }

    /// A key that a page stores to regain access.
    ///
    /// A new token revokes it.
    var returnKey: AccessToken? { token.map { Self.derived(from: $0, "patchline-return-v1") } }

    /// The first 128 bits of an HMAC-SHA256, which does not reveal the token.
    private static func derived(from token: AccessToken, _ label: String) -> AccessToken {
        let mac = TokenProof.mac(key: Array(token.text.utf8), Array("\(label)\n".utf8))
        return AccessToken(random: Array(mac.bytes.prefix(16)))
    }

    /// Returns the `Set-Cookie` field of this session.
    ///
    /// Without a Domain attribute, the cookie is sent to this host alone (RFC 6265 §5.3). It is not `Secure`, and so not `__Host-`:
    /// Chromium stores such a cookie for `http://NAME.localhost`, WebKit does not.
    func cookieField(in session: Session) -> String {
        let age = hasOwnHost ? "; Max-Age=\(Self.cookieAge)" : ""
        return "\(Self.cookie(port: session.port))=\(session.pass.text); Path=/; HttpOnly; SameSite=Strict\(age)"
    }

    /// Ports share a host's cookies, so the port is part of the name (M22).
    package static func cookie(port: Int) -> String { "\(parameter)_\(port)" }
}

/// One run of the server, from a start to the next stop.
package struct Session: Sendable {
    package let port: Int
    /// The cookie's value, see ``Access/pass()``.
    ///
    /// It does not reveal the token.
    package let pass: AccessToken

    package init(port: Int, pass: AccessToken = .make()) {
        self.port = port
        self.pass = pass
    }
}
