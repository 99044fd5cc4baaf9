import NIOCore

/// Who is at the other end, as limits count them: the address of the connection, or what a proxy that is trusted says of
/// it; of IPv6 the network (/64) that one customer has.
package struct ClientName: Hashable, Sendable {
    /// An address as text is no longer.
    private static let longest = 45

    package let text: String

    /// - Parameters:
    ///   - address: of the connection.
    ///   - forwarded: the values of `X-Forwarded-For`, in order; only what trusted proxies added is looked at.
    package init(_ address: String?, forwarded: [String] = [], trusting proxies: Set<String> = []) {
        var address = address ?? ""
        var hops = forwarded.flatMap { $0.split(separator: ",").map { $0.trimmed } }
        while proxies.contains(address), let hop = hops.popLast() { address = String(hop.prefix(Self.longest)) }
        text = Self.network(of: address)
    }

    private static func network(of address: String) -> String {
        guard address.contains(":"), (try? SocketAddress(ipAddress: address, port: 0)) != nil else { return address }
        // An IPv4 address within IPv6 is one customer's alone.
        if let last = address.split(separator: ":").last, last.contains(".") { return String(last) }
        let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let groups = halves.map { $0.split(separator: ":") }
        let missing = groups.count == 2 ? 8 - groups[0].count - groups[1].count : 0
        let all = groups[0] + Array(repeating: "0", count: max(0, missing)) + (groups.count == 2 ? groups[1] : [])
        return all.prefix(4).joined(separator: ":") + "::/64"
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
