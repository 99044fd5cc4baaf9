import HTTPCore
import HTTPFiles

/// Forwards requests for these paths to these servers.
///
/// As in nginx, an upstream's path replaces the pattern's ``ProxyPattern/prefix``. An upstream without a path, not even `/`,
/// receives the path unchanged:
///
/// ```
/// /api/.*  to  https://a.example        /api/items/3 ──▶ /api/items/3
/// /api/.*  to  https://a.example/       /api/items/3 ──▶ /items/3
/// /api/.*  to  https://a.example/v2     /api/items/3 ──▶ /v2/items/3
/// ```
package struct ProxyRule: Sendable {
    package static let maxUpstreams = 16

    package let pattern: ProxyPattern
    /// The upstreams, at least one.
    ///
    /// The first one that is reachable answers.
    package let upstreams: [Upstream]
    /// The path of the upstream's cookies.
    ///
    /// If nil, ``ProxyRules`` determines it.
    package let cookiePath: String?
    /// How the rule's pages are kept, or nil if they are not kept.
    package var pages: LivePages?

    package init(_ pattern: ProxyPattern, to upstreams: [Upstream], cookiePath: String? = nil) {
        precondition(!upstreams.isEmpty, "a rule leads somewhere")
        self.pattern = pattern
        self.upstreams = upstreams
        self.cookiePath = cookiePath
    }

    /// Returns the path that is requested from `upstream`, as sent by the client, with the query.
    func target(of request: FileRequest, at upstream: Upstream) -> String {
        var path = request.sentPath.text
        if let base = upstream.base {
            let names = base + request.sentPath.names.dropFirst(pattern.prefix.count)
            path = "/" + names.joined(separator: "/")
        }
        return path + (request.query.map { "?\($0)" } ?? "")
    }

    /// Returns the local path for an upstream's path, or nil if no request leads to it.
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
