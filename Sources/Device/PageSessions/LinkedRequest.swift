import APIProxy
import HTTPFiles
import NIOHTTP1
import PageDiff
import PatchFormat
import PatchCrypto

/// A request for what a page may have linked to.
struct LinkedRequest: Equatable, Sendable {
    /// Of one account.
    let key: MD5Digest
    let account: String?

    /// Nil for what is never kept.
    init?(_ request: FileRequest, in rules: ProxyRules) {
        guard request.method == .GET, request.upgrade == nil, !request.headers.contains(name: "Range"),
            !request.headers.contains(name: "Authorization"), !Self.asksAnew(request.headers),
            let rule = rules.rule(for: request.path), let pages = rule.pages, let upstream = rule.upstreams.first
        else { return nil }
        account = pages.account(of: request.headers)
        let target = request.sentPath.text + (request.query.map { "?\($0)" } ?? "")
        key = Fingerprint(of: Array("\(account.map { "\($0)_" } ?? "")\(upstream.origin)\(target)".utf8)).md5
    }
}

extension LinkedRequest {
    /// Whether somebody wants what the server has now, as browsers do who load a page again without their cache.
    private static func asksAnew(_ fields: HTTPHeaders) -> Bool {
        fields.cacheDirectives.contains("no-cache") || CacheDirectives(fields["Pragma"]).contains("no-cache")
    }
}

/// How long an answer to a request for a linked resource may be given again.
enum LinkAge {
    private static let longest = 31_536_000

    /// Nil for one that is not kept.
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
