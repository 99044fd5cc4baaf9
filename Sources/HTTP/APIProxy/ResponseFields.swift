import HTTPCore
import NIOHTTP1

extension HTTPHeaders {
    /// Fields in which upstreams describe their own origin to browsers.
    ///
    /// They are removed.
    ///
    /// CORS is for other origins, but the page has the same origin. HSTS, Alt-Svc and similar fields would apply to the device's
    /// port. Clear-Site-Data, Service-Worker-Allowed and an open Cross-Origin-Resource-Policy would expose the app's storage, pages
    /// and answers to a page on another port of this machine, which shares the cookies.
    private static let ofOrigin = [
        "Alt-Svc", "Clear-Site-Data", "Cross-Origin-Resource-Policy", "Expect-CT", "NEL", "Origin-Agent-Cluster",
        "Public-Key-Pins", "Report-To",
        "Service-Worker-Allowed", "Strict-Transport-Security",
    ]

    /// The fields of a server's answer that a site's client receives: all except those of the connection, with the proxy's own URLs
    /// instead of the server's.
    init(ofSite fields: HTTPHeaders, at upstream: Upstream, by rule: ProxyRule, in rules: ProxyRules) {
        self = fields.withoutHopByHop()
        localise(of: upstream, by: rule, in: rules)
    }

    /// The fields of an upstream's answer that the page receives.
    init(from fields: HTTPHeaders, of upstream: Upstream, by rule: ProxyRule, in rules: ProxyRules, reserved: String) {
        self = fields.withoutHopByHop()
        remove(names: Self.ofOrigin)
        remove(prefix: "access-control-")
        let cookies = self["Set-Cookie"]
        remove(name: "Set-Cookie")
        for cookie in cookies {
            let kept = SetCookie.kept(cookie, reserved: reserved, scope: rules.cookiePath(of: rule)) { path in
                rule.localPath(of: path, at: upstream)
            }
            if let kept { add(name: "Set-Cookie", value: kept) }
        }
        localise(of: upstream, by: rule, in: rules)
    }

    /// Replaces the upstream's own URLs by the proxy's in all fields that contain URLs.
    private mutating func localise(of upstream: Upstream, by rule: ProxyRule, in rules: ProxyRules) {
        for name in ["Location", "Content-Location"] {
            replaceValues(of: name) { rules.local($0, of: upstream, by: rule) }
        }
        replaceValues(of: "Refresh") { rules.localRefresh($0, of: upstream, by: rule) }
        replaceValues(of: "Link") { rules.localLinks($0, of: upstream, by: rule) }
    }

    private mutating func replaceValues(of name: String, _ change: (String) -> String) {
        let values = self[name]
        guard !values.isEmpty else { return }
        remove(name: name)
        for value in values { add(name: name, value: change(value)) }
    }
}
