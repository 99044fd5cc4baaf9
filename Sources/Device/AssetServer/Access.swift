package import NIOHTTP1
import PatchFormat
import PatchCrypto

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
    /// How long a browser keeps the cookie of an app's own host, in seconds: 400 days, the most that browsers keep any.
    static let cookieAge = 34_560_000
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

    /// - Parameter value: nil drops the field. A Content-Security-Policy also allows the inline script of the release stamp.
    package mutating func setHeader(_ name: String, to value: String?) {
        ownNames.insert(name.lowercased())
        securityHeaders.remove(name: name)
        guard let value else { return }
        let isPolicy = name.lowercased() == "content-security-policy"
        let sent = isPolicy ? ContentPolicy.allowing(StampScript.sha256, in: value) : value
        securityHeaders.add(name: name, value: sent)
    }

    /// Whether pages have a host of their own, whose cookies no other program of this machine receives.
    var hasOwnHost: Bool { hosts.isDisjoint(with: Self.loopbackHosts) }

    /// What a session's cookie has as its value.
    ///
    /// Under the app's own host it is derived from the token, so that pages, their workers and a restarted browser are let in
    /// after a restart of the server; a new token revokes it. Under a shared host each session has its own, because another
    /// program that listens on the port would receive it.
    func pass() -> AccessToken {
        guard hasOwnHost, let token else { return .make() }
        return Self.derived(from: token, "patchline-cookie-v1")
    }

    /// Lets a page enter again that keeps it in its storage; a new token revokes it.
    var returnKey: AccessToken? { token.map { Self.derived(from: $0, "patchline-return-v1") } }

    /// The first 128 bits of an HMAC-SHA256, which tells nothing of the token.
    private static func derived(from token: AccessToken, _ label: String) -> AccessToken {
        let mac = TokenProof.mac(key: Array(token.text.utf8), Array("\(label)\n".utf8))
        return AccessToken(random: Array(mac.bytes.prefix(16)))
    }

    /// The `Set-Cookie` of this session.
    ///
    /// Without a Domain the cookie is the host's alone (RFC 6265 §5.3). Not `Secure`, and so not `__Host-`: Chromium keeps such
    /// a cookie of `http://NAME.localhost`, WebKit does not.
    func cookieField(in session: Session) -> String {
        let age = hasOwnHost ? "; Max-Age=\(Self.cookieAge)" : ""
        return "\(Self.cookie(port: session.port))=\(session.pass.text); Path=/; HttpOnly; SameSite=Strict\(age)"
    }

    /// Ports share a host's cookies, so the port is part of the name (M22).
    package static func cookie(port: Int) -> String { "\(parameter)_\(port)" }
}

/// One time that the server listens: from a start to the next stop.
package struct Session: Sendable {
    package let port: Int
    /// The cookie's value, see ``Access/pass()``; it tells nothing of the token.
    package let pass: AccessToken

    package init(port: Int, pass: AccessToken = .make()) {
        self.port = port
        self.pass = pass
    }
}
