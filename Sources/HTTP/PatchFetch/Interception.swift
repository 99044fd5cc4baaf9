package import PatchFormat

/// A sign that a captive portal or a proxy answered instead of the server.
///
/// It is a fault of the device's current network. Another network, or a login, resolves it.
package enum Interception: Equatable, Sendable {
    /// A redirect to a host that is unrelated to the server, in an answer without TLS.
    case redirect(to: String)
    /// 511: the network requires a login (RFC 6585 §6). 407: a proxy requires one (RFC 9110 §15.5.8). Servers do not send these.
    case status(Int)
    /// A web page instead of data.
    case page

    package static let hint = "log in to the network, or let this machine through the proxy"

    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - location: The answer's Location, if any.
    /// - Returns: Nil for an answer that may be the server's own. A redirect is the server's own if TLS proves the server's
    ///   identity, if it stays on the server's host, or if it leads to a host whose name extends the server's or the reverse.
    package init?(status: Int, location: String?, from server: ServerURL) {
        switch status {
        case 407, 511: self = .status(status)
        case 301...303, 307, 308:
            guard let location, !server.isSecure, let host = Self.host(of: location),
                !Self.isRelated(host, server.host.lowercased())
            else { return nil }
            self = .redirect(to: location)
        default: return nil
        }
    }

    /// Returns nil for a path, which stays on the server.
    private static func host(of location: String) -> String? {
        let lower = location.lowercased()
        let rest: Substring
        if lower.hasPrefix("//") {
            rest = lower.dropFirst(2)
        } else if let scheme = lower.firstRange(of: "://"), lower[..<scheme.lowerBound].allSatisfy(\.isLetter) {
            rest = lower[scheme.upperBound...]
        } else {
            return nil
        }
        var authority = rest.prefix { !"/?#".contains($0) }
        if let user = authority.lastIndex(of: "@") { authority = authority[authority.index(after: user)...] }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    private static func isRelated(_ one: String, _ other: String) -> Bool {
        one == other || one.hasSuffix(".\(other)") || other.hasSuffix(".\(one)")
    }
}

extension Interception: CustomStringConvertible {
    package var description: String {
        let sign =
            switch self {
            case .redirect(let target): "it redirects to \(target)"
            case .status(407): "it answers 407 (proxy authentication required)"
            case .status(511): "it answers 511 (network authentication required)"
            case .status(let code): "it answers \(code)"
            case .page: "it sends a web page"
            }
        return "a captive portal or proxy answers in the server's place: \(sign)"
    }
}
