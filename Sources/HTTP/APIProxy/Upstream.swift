/// A server that requests are forwarded to: `https://api.example.com/v2/`.
package struct Upstream: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "must be http:// or https://, a host, and at most a path; no user, query or fragment"

    package let isSecure: Bool
    /// A name or an address.
    ///
    /// IPv6 has no brackets.
    package let host: String
    package let port: Int
    /// `api.example.com`, with the port if it is not the scheme's default.
    package let authority: String
    /// The names of the path, percent-encoded, or nil if there is no path, not even `/`.
    package let base: [String]?

    package init?(_ text: String) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let isSecure = ["http": false, "https": true][parts[0].lowercased()] else { return nil }
        let forbidden = Set("?#@\\\"<>^`{|}".utf8)
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !forbidden.contains($0) })
        else { return nil }
        let authority = parts[1].prefix { $0 != "/" }
        guard let (host, port) = Self.hostAndPort(authority.lowercased()) else { return nil }
        let path = parts[1].dropFirst(authority.count)
        let names = path.split(separator: "/").map(String.init)
        guard !names.contains(where: { $0 == "." || $0 == ".." }) else { return nil }

        let ownPort = isSecure ? 443 : 80
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? ownPort
        let name = host.contains(":") ? "[\(host)]" : host
        self.authority = self.port == ownPort ? name : "\(name):\(self.port)"
        base = path.isEmpty ? nil : names
    }

    /// `https://api.example.com`.
    package var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    package var description: String { origin + (base.map { $0.isEmpty ? "/" : $0.map { "/\($0)" }.joined() } ?? "") }

    private static func hostAndPort(_ authority: String) -> (String, Int?)? {
        let end: String.Index
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { return nil }
            end = authority.index(after: bracket)
        } else {
            end = authority.firstIndex(of: ":") ?? authority.endIndex
        }
        let (host, rest) = (authority[..<end], authority[end...])
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
        guard !name.isEmpty, host.hasPrefix("[") == name.contains(":") else { return nil }
        if rest.isEmpty { return (name, nil) }
        guard rest.first == ":", let port = Int(rest.dropFirst()), (1...65_535).contains(port) else { return nil }
        return (name, port)
    }
}
