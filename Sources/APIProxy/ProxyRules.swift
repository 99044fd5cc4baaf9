package import HTTPFiles

/// All rules of a device; the first that names a path is the one for it.
package struct ProxyRules: Sendable {
    package static let maxRules = 100

    package let rules: [ProxyRule]

    package init(_ rules: [ProxyRule]) {
        self.rules = rules
    }

    package func rule(for path: RequestPath) -> ProxyRule? {
        rules.first { $0.pattern.matches(path) }
    }

    /// Which paths a cookie of a rule's upstream may name.
    ///
    /// All upstreams share the device's origin, and with it its cookies. Where all rules lead to one server, nobody else
    /// can get them; else they stay below the rule's own prefix, so that no server gets another's.
    func cookiePath(of rule: ProxyRule) -> String {
        if let path = rule.cookiePath { return path }
        let origins = Set(rules.flatMap { $0.upstreams.map(\.origin) })
        let isOneRule = rules.count == 1
        return origins.count == 1 || isOneRule ? "/" : ProxyRule.path(rule.pattern.prefix, slash: false)
    }
}

extension ProxyRules {
    /// An upstream's reference to one of its own resources, as the page can follow it.
    ///
    /// What leads to other servers stays; what leads to a path of the upstream that no rule names becomes the upstream's
    /// own URL.
    func local(_ location: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        guard let path = Self.path(of: location, at: upstream) else { return location }
        let parts = Self.pathAndRest(path)
        guard let local = rule.localPath(of: parts.path, at: upstream),
            let parsed = try? RequestPath(parsing: local), let named = self.rule(for: parsed),
            named.upstreams.contains(upstream)
        else { return upstream.origin + path }
        return local + parts.rest
    }

    /// From its first slash on; nil for what is relative to its own path, or another server's.
    private static func path(of location: String, at upstream: Upstream) -> String? {
        let absolute = location.hasPrefix("//") ? "\(upstream.isSecure ? "https" : "http"):\(location)" : location
        if absolute.hasPrefix("/") { return absolute }
        let scheme = absolute.prefix { $0.isLetter }
        let rest = absolute[scheme.endIndex...]
        guard rest.hasPrefix("://") else { return nil }
        let authority = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let other = Upstream("\(scheme)://\(authority)"), other.origin == upstream.origin else { return nil }
        let path = String(rest[authority.endIndex...])
        return path.hasPrefix("/") ? path : "/\(path)"
    }

    private static func pathAndRest(_ text: String) -> (path: String, rest: String) {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return (String(path), String(text[path.endIndex...]))
    }
}
