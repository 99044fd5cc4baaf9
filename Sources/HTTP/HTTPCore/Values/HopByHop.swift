package import NIOHTTP1

extension HTTPHeaders {
    /// The fields that describe one connection (RFC 9110 §7.6.1).
    private static let hopByHop = [
        "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade", "HTTP2-Settings", "Proxy-Authentication-Info",
    ]

    /// Returns the fields without those of one connection: the known ones, and those that `Connection` names.
    package func withoutHopByHop() -> HTTPHeaders {
        var fields = self
        let named = self["Connection"].flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces }
        for name in Self.hopByHop + named { fields.remove(name: name) }
        return fields
    }

    package mutating func remove(names: [String]) {
        for name in names { remove(name: name) }
    }

    package mutating func remove(prefix: String) {
        let names = filter { $0.name.lowercased().hasPrefix(prefix) }.map(\.name)
        remove(names: names)
    }
}

extension StringProtocol {
    package var trimmingSpaces: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
