import HTTPCore
package import NIOHTTP1
import PatchFormat

/// How the pages under a rule are kept on the device: the member `pages` of a rule.
///
/// ```json
/// { "account": "sid", "untagged": true, "parameters": ["id"], "preload": ["/shop/home"] }
/// ```
package struct LivePages: Equatable, Sendable {
    package static let maxPreloads = 5
    package static let maxParameters = 20
    private static let cookieNameLimit = 100

    /// The name that the server gave to the cookie whose value identifies an account.
    ///
    /// Nil if all accounts have the same pages.
    package var account: String?
    /// Whether pages of servers without support for the protocol are kept too.
    package var takesUntagged = false
    /// The query parameters that distinguish pages, in addition to those that the protocol names.
    package var parameters: Set<String> = []
    /// Paths with their queries that are requested once an account has opened any page.
    package var preload: [String] = []

    package init() {}

    init(_ fields: Fields, under pattern: ProxyPattern) throws(FormatError) {
        try fields.allow(["account", "untagged", "parameters", "preload"])
        account = try fields.optionalString("account")
        guard account.map(Self.isCookieName) ?? true else {
            throw fields.broken("account", "must be the name of a cookie")
        }
        takesUntagged = try fields.bool("untagged", default: false)
        if fields.has("parameters") {
            parameters = Set(try fields.strings("parameters", limit: Self.maxParameters))
        }
        guard fields.has("preload") else { return }
        preload = try fields.strings("preload", limit: Self.maxPreloads)
        for (number, target) in preload.enumerated() {
            guard target.hasPrefix("/"), let path = try? RequestPath(parsing: target), pattern.matches(path) else {
                throw fields.broken("preload[\(number)]", "must be a path that the rule's pattern matches")
            }
        }
    }

    /// Whether `name` is a token (RFC 6265 §4.1.1).
    private static func isCookieName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= cookieNameLimit && name.utf8.allSatisfy(\.isTokenCharacter)
    }

    /// Returns the account of a request, or nil if it has none.
    package func account(of fields: HTTPHeaders) -> String? {
        guard let account else { return nil }
        let name = SetCookie.nameHere(account)
        for pair in fields["Cookie"].flatMap({ $0.split(separator: ";") }).map(\.trimmingSpaces)
        where pair.hasPrefix("\(name)=") {
            return String(pair.dropFirst(name.count + 1))
        }
        return nil
    }

    /// Whether an answer, in the form that the page receives, switches to another account.
    package func changesAccount(_ fields: HTTPHeaders, from current: String?) -> Bool {
        guard let account else { return false }
        let name = SetCookie.nameHere(account)
        return fields["Set-Cookie"].contains { cookie in
            let pair = cookie.prefix { $0 != ";" }
            return pair.hasPrefix("\(name)=") && String(pair.dropFirst(name.count + 1)) != current
        }
    }
}

extension ProxyRules {
    /// Returns the local target that this rule forwards to the upstream's URL, or nil for all other URLs.
    package func target(of url: String, by rule: ProxyRule) -> String? {
        guard let upstream = rule.upstreams.first else { return nil }
        guard case .here(let here) = reference(url, of: upstream, by: rule), !Self.readsAsHost(here),
            let path = try? RequestPath(parsing: here),
            self.rule(for: path)?.upstreams.first?.origin == upstream.origin
        else { return nil }
        return here
    }
}
