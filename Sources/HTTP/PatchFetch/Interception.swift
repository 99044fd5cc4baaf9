package import PatchFormat

/// A sign that a captive portal or a proxy answered in the server's place.
///
/// It is a fault of the network that the device is in now: another network, or a login, ends it.
package enum Interception: Equatable, Sendable {
    /// A redirect to a host that has nothing to do with the server, in an answer that no TLS vouches for.
    case redirect(to: String)
    /// 511: the network wants a login (RFC 6585 §6). 407: a proxy wants one (RFC 9110 §15.5.8). No server answers so.
    case status(Int)
    /// A web page in the place of data.
    case page

    package static let hint = "log in to the network, or let this machine through the proxy"

    /// - Parameters:
    ///   - status: of an answer.
    ///   - location: its Location, if any.
    /// - Returns: nil for an answer that may be the server's own. A redirect is the server's own if TLS proves who answers, if it stays
    ///   on the server's host, or if it leads to a host whose name extends the server's or the reverse.
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

    /// Nil for a path, which stays on the server.
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
