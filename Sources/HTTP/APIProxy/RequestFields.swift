import HTTPFiles
import HTTPPeers
import NIOHTTP1

extension HTTPHeaders {
    /// What an upstream gets of a request's fields.
    ///
    /// It sees a client of its own origin: `Host` is the upstream's, `Origin` and `Referer` of the device's origin become
    /// the upstream's, without the page's path. Nothing says that a proxy stands between, nothing names the device's
    /// address: `Forwarded`, `X-Forwarded-…` and `Via` are dropped and none are added.
    ///
    /// - Parameter reservedCookies: how cookies begin that are the device's own; no upstream sees those.
    init(of request: FileRequest, for upstream: Upstream, reservedCookies: String) {
        var fields = request.headers.withoutHopByHop()
        fields.remove(names: [
            "Content-Length", "Expect", "Host", "Forwarded", "Via", "X-Real-IP", AnswerGuard.targetField,
        ])
        fields.remove(prefix: "x-forwarded-")

        let local = request.headers["Host"].map { "http://\($0.lowercased())" }
        if let origin = fields.first(name: "Origin"), local.contains(origin.lowercased()) {
            fields.replaceOrAdd(name: "Origin", value: upstream.origin)
        }
        if let referer = fields.first(name: "Referer")?.lowercased(),
            local.contains(where: { referer == $0 || referer.hasPrefix("\($0)/") })
        {
            fields.replaceOrAdd(name: "Referer", value: "\(upstream.origin)/")
        }
        let cookies = fields["Cookie"].flatMap { SetCookie.sentBack($0, reserved: reservedCookies) }
        fields.remove(name: "Cookie")
        if !cookies.isEmpty { fields.add(name: "Cookie", value: cookies.joined(separator: "; ")) }
        self = fields
        add(name: "Host", value: upstream.authority)
    }

    /// What a site's server gets of a request's fields, from the proxy in front of it.
    ///
    /// All that speaks of the client; and who asked, for which name and how (`X-Forwarded-…`), of which a client's own word counts
    /// only where it is a proxy that is trusted.
    ///
    /// - Parameter address: of the connection that the request came over; nil where it is unknown.
    init(
        of request: FileRequest,
        from address: String?,
        forSite upstream: Upstream,
        scheme: String,
        trusting proxies: TrustedProxies
    ) {
        var fields = request.headers.withoutHopByHop()
        fields.remove(names: ["Content-Length", "Expect", "Host", AnswerGuard.targetField])
        let isTrusted = address.map { proxies.contains($0) } ?? false
        if !isTrusted {
            fields.remove(names: ["Forwarded", "X-Real-IP"])
            fields.remove(prefix: "x-forwarded-")
            // Servers that hand fields on as CGI does read `X_Forwarded_For` as the same (RFC 3875 §4.1.18).
            for name in Set(fields.map { $0.name.lowercased() }) where name.contains("_") {
                let same = name.replacing("_", with: "-")
                guard ["forwarded", "x-real-ip"].contains(same) || same.hasPrefix("x-forwarded-") else { continue }
                fields.remove(name: name)
            }
        }
        if let address { fields.add(name: "X-Forwarded-For", value: address) }
        if !fields.contains(name: "X-Forwarded-Proto") { fields.add(name: "X-Forwarded-Proto", value: scheme) }
        if let host = request.headers.first(name: "Host"), !fields.contains(name: "X-Forwarded-Host") {
            fields.add(name: "X-Forwarded-Host", value: host)
        }
        self = fields
        add(name: "Via", value: "1.1 \(APIProxy.name)")
        add(name: "Host", value: upstream.authority)
    }
}
