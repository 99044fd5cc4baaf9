import HTTPFiles

/// Requests for these paths go to these servers.
///
/// As with nginx, an upstream's path takes the place of the pattern's ``ProxyPattern/prefix``, and an upstream without
/// one, not even `/`, gets the path as it is:
///
/// ```
/// /api/.*  to  https://a.example        /api/items/3 ──▶ /api/items/3
/// /api/.*  to  https://a.example/       /api/items/3 ──▶ /items/3
/// /api/.*  to  https://a.example/v2     /api/items/3 ──▶ /v2/items/3
/// ```
package struct ProxyRule: Sendable {
    package static let maxUpstreams = 16

    package let pattern: ProxyPattern
    /// At least one; the first that a connection can be made to answers.
    package let upstreams: [Upstream]
    /// Where its cookies are sent to; nil for what ``ProxyRules`` finds right.
    package let cookiePath: String?
    /// How its pages are kept; nil where they are not.
    package var pages: LivePages?

    package init(_ pattern: ProxyPattern, to upstreams: [Upstream], cookiePath: String? = nil) {
        precondition(!upstreams.isEmpty, "a rule leads somewhere")
        self.pattern = pattern
        self.upstreams = upstreams
        self.cookiePath = cookiePath
    }

    /// The path that `upstream` is asked for, as spelled by the client, and the query.
    func target(of request: FileRequest, at upstream: Upstream) -> String {
        var path = request.spelledPath
        if let base = upstream.base {
            let names = path.split(separator: "/").map(String.init)
            path = Self.path(base + names.dropFirst(pattern.prefix.count), slash: path.hasSuffix("/"))
        }
        return Self.asURL(path + (request.query.map { "?\($0)" } ?? ""))
    }

    /// With what a URL may not hold percent-encoded (RFC 3986 §3.3, §3.4), and what is encoded already left as it is.
    ///
    /// Browsers send some of it raw (`filter[name]=a%20b`); the HTTP client would encode that, and each `%` beside it too.
    private static func asURL(_ target: String) -> String {
        let bytes = Array(target.utf8)
        var url = ""
        url.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let scalar = Unicode.Scalar(byte)
            let escape = bytes[(index + 1)...].prefix(2)
            let isEscape = escape.count == 2 && escape.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            if scalar == "%" ? isEscape : !notInURLs.contains(scalar) {
                url.unicodeScalars.append(scalar)
            } else {
                url += "%" + String(byte, radix: 16, uppercase: true)
            }
        }
        return url
    }

    /// What of visible ASCII a target may hold and a URL may not.
    private static let notInURLs = Set("\"<>[\\]^`{|}".unicodeScalars)

    /// The other way round, for what the upstream says about its own paths; nil for a path that no request leads to.
    func localPath(of path: String, at upstream: Upstream) -> String? {
        guard let base = upstream.base else { return path }
        let names = path.split(separator: "/").map(String.init)
        guard names.starts(with: base) else { return nil }
        return Self.path(pattern.prefix + names.dropFirst(base.count), slash: path.hasSuffix("/"))
    }

    static func path(_ names: [String], slash: Bool) -> String {
        names.isEmpty ? "/" : names.map { "/\($0)" }.joined() + (slash ? "/" : "")
    }
}
