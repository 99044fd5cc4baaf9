/// The server of an app: `http://host:port` + `/APP/` + path.
package struct ServerURL: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "must be http:// or https://, a host, and at most a path; no user, query or fragment"
    /// Without a trailing slash.
    package let text: String

    package init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("http://") {
            rest = text.dropFirst(7)
        } else if text.hasPrefix("https://") {
            rest = text.dropFirst(8)
        } else {
            return nil
        }
        let host = rest.prefix { $0 != "/" }
        let forbidden = Set("?#@\\\"<>^`{|}".utf8)
        guard !host.isEmpty, text.utf8.count <= 2_048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !forbidden.contains($0) })
        else { return nil }
        self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    package var description: String { text }

    package var isSecure: Bool { text.hasPrefix("https://") }

    /// The host without port and brackets: `updates.example.com`, `127.0.0.1`, `::1`.
    package var host: String {
        let authority = authority
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// The port, or the scheme's default port if the URL has none.
    package var port: Int {
        let rest = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority[...]
        return rest.split(separator: ":", maxSplits: 1).dropFirst().first.flatMap { Int($0) } ?? (isSecure ? 443 : 80)
    }

    /// Whether the host is this machine: `localhost`, `127.x.y.z`, `::1`.
    package var isLoopback: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isV4 = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        return isV4 || host == "::1" || host.lowercased() == "localhost"
    }

    private var authority: Substring {
        text.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
    }

    private init(parsed text: String) {
        self.text = text
    }

    package func appending(_ app: AppID) -> ServerURL {
        ServerURL(parsed: "\(text)/\(app)")
    }
}
