import HTTPFiles
import HTTPCore
import NIOHTTP1

extension HTTPHeaders {
    /// The fields of a request that an upstream of a device receives.
    ///
    /// The upstream receives the request of a client of its own origin: `Host` is the upstream's, and `Origin` and `Referer` of the
    /// device's origin become the upstream's, without the page's path. No field reveals the proxy or the device's address:
    /// `Forwarded`, `X-Forwarded-…` and `Via` are dropped, and none are added.
    ///
    /// - Parameter reservedCookies: The prefix of the device's own cookies, which are not sent to upstreams.
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

    /// The fields of a request that a site's server receives from the proxy in front of it.
    ///
    /// They are all fields that describe the client, and `X-Forwarded-…` with the client's address, the requested host and the
    /// scheme. Values that the client sent for these are kept only if it is a trusted proxy.
    ///
    /// - Parameter address: The address of the request's connection, or nil if unknown.
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
            // Servers with a CGI-like interface read `X_Forwarded_For` as the same field (RFC 3875 §4.1.18).
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
