import PatchFormat

/// The target of a redirect that stays on its server: the same scheme, host and port.
struct RedirectTarget: Equatable {
    private static let maxLength = 8_192

    let url: String

    /// Nil for a target on another server, and for an invalid URL.
    ///
    /// - Parameters:
    ///   - location: The value of `Location`.
    ///   - url: The requested URL.
    init?(_ location: String, from url: String) {
        let target = location.prefix { $0 != "#" }
        guard !target.isEmpty, target.utf8.count <= Self.maxLength,
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            let (origin, path) = Self.parts(url)
        else { return nil }
        if target.hasPrefix("//") {
            guard let scheme = origin.firstRange(of: "//") else { return nil }
            self.init(absolute: origin[..<scheme.lowerBound] + target, on: origin)
        } else if target.hasPrefix("/") {
            self.init(origin, target)
        } else if target.hasPrefix("?") {
            self.init(origin, path.prefix { $0 != "?" } + target)
        } else if target.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") {
            self.init(absolute: target, on: origin)
        } else {
            let folder = path.prefix { $0 != "?" }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            self.init(origin, folder[...slash] + target)
        }
    }

    private init(_ origin: String, _ target: some StringProtocol) {
        let path = target.prefix { $0 != "?" }
        url = origin + Self.withoutDotSegments(path) + target.dropFirst(path.count)
    }

    /// Resolves `.` and `..`, which a client never sends (RFC 3986 §5.2.4).
    ///
    /// Empty segments are kept.
    private static func withoutDotSegments(_ path: some StringProtocol) -> String {
        let segments = String(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var kept: [Substring] = []
        for segment in segments {
            if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
        }
        let isFolder = segments.last.map { $0 == "." || $0 == ".." } ?? false
        return kept.map { "/\($0)" }.joined() + (isFolder || kept.isEmpty ? "/" : "")
    }

    private init?(absolute: some StringProtocol, on origin: String) {
        guard let (other, path) = Self.parts(String(absolute)), let one = ServerURL(origin),
            let same = ServerURL(other),
            one.isSecure == same.isSecure, one.host.lowercased() == same.host.lowercased(), one.port == same.port
        else { return nil }
        self.init(origin, (path.hasPrefix("/") ? "" : "/") + path)
    }

    /// Splits a URL into `https://host:port` and the rest.
    private static func parts(_ url: String) -> (origin: String, rest: String)? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let origin =
            url[..<scheme.upperBound].lowercased() + url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return (origin, String(url.dropFirst(origin.count)))
    }
}
