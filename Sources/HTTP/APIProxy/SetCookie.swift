import HTTPCore

/// A cookie of an upstream as the device's origin can keep it (RFC 6265).
///
/// `Domain` is removed, so the cookie belongs to the device's origin. `Secure` and the attributes that require it (`SameSite=None`,
/// `Partitioned`) are removed, because that origin is loopback HTTP. The upstream's URL decides whether the cookie is sent to the
/// upstream over TLS. Names that promise `Secure` (`__Host-`, `__Secure-`) have another spelling on the device and their own at the
/// upstream.
enum SetCookie {
    private static let promises = [("__Host-", "__PatchlineHost-"), ("__Secure-", "__PatchlineSecure-")]

    /// Returns the field for the page, or nil for a cookie that would replace one of the device's own.
    ///
    /// - Parameters:
    ///   - scope: The path of a cookie for all paths. Cookies are limited to it.
    ///   - localPath: Returns the local path for a path of the upstream.
    static func kept(_ value: String, reserved: String, scope: String, localPath: (String) -> String?) -> String? {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmingSpaces)
        guard let pair = parts.first, let name = pair.split(separator: "=").first, !pair.hasPrefix("=") else {
            return nil
        }
        guard !name.trimmingSpaces.lowercased().hasPrefix(reserved.lowercased()) else { return nil }
        var kept = [renamed(pair, from: \.0, to: \.1)]
        var path = scope == "/" ? nil : Optional(scope)
        for attribute in parts.dropFirst() {
            let halves = attribute.split(separator: "=", maxSplits: 1).map(\.trimmingSpaces)
            switch halves.first?.lowercased() {
            case "domain", "secure", "partitioned", nil: continue
            case "samesite" where halves.last?.lowercased() == "none": continue
            case "path": path = here(halves.count > 1 ? halves[1] : "", scope: scope, localPath) ?? path
            default: kept.append(attribute)
            }
        }
        if let path { kept.append("Path=\(path)") }
        return kept.joined(separator: "; ")
    }

    /// Returns nil for an invalid path.
    ///
    /// Then the scope applies, or the browser's default, which is the request's own folder.
    private static func here(_ path: String, scope: String, _ localPath: (String) -> String?) -> String? {
        guard path.hasPrefix("/") else { return nil }
        guard path != "/", let local = localPath(path) else { return scope }
        return scope == "/" || local == scope || local.hasPrefix("\(scope)/") ? local : scope
    }

    /// Returns the pairs of a Cookie field that an upstream receives, under the upstream's own names.
    static func sentBack(_ value: String, reserved: String) -> [String] {
        value.split(separator: ";").map(\.trimmingSpaces)
            .filter { !$0.isEmpty && !$0.lowercased().hasPrefix(reserved.lowercased()) }
            .map { renamed($0, from: \.1, to: \.0) }
    }

    /// Returns the local name of an upstream's cookie.
    static func nameHere(_ name: String) -> String { renamed(name, from: \.0, to: \.1) }

    private static func renamed(
        _ pair: String,
        from old: KeyPath<(String, String), String>,
        to new: KeyPath<(String, String), String>
    ) -> String {
        for promise in promises {
            let prefix = promise[keyPath: old]
            guard pair.lowercased().hasPrefix(prefix.lowercased()) else { continue }
            return promise[keyPath: new] + pair.dropFirst(prefix.count)
        }
        return pair
    }
}
