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

    /// The path that `upstream` is asked for, as sent by the client, and the query.
    func target(of request: FileRequest, at upstream: Upstream) -> String {
        var path = request.sentPath.text
        if let base = upstream.base {
            let names = base + request.sentPath.names.dropFirst(pattern.prefix.count)
            path = "/" + names.joined(separator: "/")
        }
        return path + (request.query.map { "?\($0)" } ?? "")
    }

    /// The other way round, for what the upstream says about its own paths; nil for a path that no request leads to.
    func localPath(of path: String, at upstream: Upstream) -> String? {
        guard let base = upstream.base else { return path }
        let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.starts(with: base) else { return nil }
        return "/" + (pattern.prefix + names.dropFirst(base.count)).joined(separator: "/")
    }

    static func path(_ names: [String], slash: Bool) -> String {
        names.isEmpty ? "/" : names.map { "/\($0)" }.joined() + (slash ? "/" : "")
    }
}
