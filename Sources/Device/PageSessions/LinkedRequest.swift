import APIProxy
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchCrypto

/// A request for a resource that a page may link to.
struct LinkedRequest: Equatable, Sendable {
    /// The key of the stored resource, different for each account.
    let key: MD5Digest
    let account: String?

    /// Nil for a request whose response is never stored.
    init?(_ request: FileRequest, in rules: ProxyRules) {
        guard request.method == .GET, request.upgrade == nil, !request.headers.contains(name: "Range"),
            !request.headers.contains(name: "Authorization"), !Self.bypassesCache(request.headers),
            let rule = rules.rule(for: request.path), let pages = rule.pages, let upstream = rule.upstreams.first
        else { return nil }
        account = pages.account(of: request.headers)
        let target = request.sentPath.text + (request.query.map { "?\($0)" } ?? "")
        key = Fingerprint(of: Array("\(account.map { "\($0)_" } ?? "")\(upstream.origin)\(target)".utf8)).md5
    }
}

extension LinkedRequest {
    /// Whether the client asks for a fresh response, as browsers do when a page is reloaded without their cache.
    private static func bypassesCache(_ fields: HTTPHeaders) -> Bool {
        fields.cacheDirectives.contains("no-cache") || CacheDirectives(fields["Pragma"]).contains("no-cache")
    }
}

/// How long a response for a linked resource may be reused.
enum LinkAge {
    private static let longest = 31_536_000

    /// Nil for a response that is not stored.
    static func time(of status: Int, _ fields: HTTPHeaders) -> Duration? {
        let varies = fields[canonicalForm: "Vary"].map { $0.lowercased() }
        let rules = fields.cacheDirectives
        guard status == 200, !fields.contains(name: "Set-Cookie"), fields.pageCoding(against: nil) != nil,
            varies.allSatisfy({ ["accept-encoding", "origin"].contains($0) }),
            !rules.contains("no-store"), !rules.contains("no-cache")
        else { return nil }
        guard rules.contains("max-age") else { return PageLimits.linkTime }
        let age = fields.first(name: "Age").flatMap { Int($0) } ?? 0
        guard let seconds = rules.seconds("max-age"), seconds > 0, age >= 0 else { return nil }
        let left = min(seconds, longest) - min(age, longest)
        return left > 0 ? .seconds(left) : nil
    }
}
