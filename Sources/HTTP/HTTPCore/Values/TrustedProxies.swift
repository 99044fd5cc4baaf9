/// Addresses and networks of the proxies in front of a server.
///
/// Their `X-Forwarded-For` identifies the client.
package struct TrustedProxies: Equatable, Sendable {
    package static let rule = "must be IP addresses, or networks such as 10.0.0.0/8, with commas between them"

    private struct Network: Equatable {
        let address: IPAddress
        /// The number of leading bits that identify the network.
        let bits: Int

        init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = IPAddress(parts[0]) else { return nil }
            let all = address.bytes.count * 8
            guard let bits = parts.count == 2 ? Int(parts[1]) : all, (1...all).contains(bits) else { return nil }
            self.address = address
            self.bits = bits
            guard Self.isZero(address.bytes, from: bits) else { return nil }
        }

        func contains(_ other: IPAddress) -> Bool {
            guard other.bytes.count == address.bytes.count else { return false }
            let differing = zip(address.bytes, other.bytes).map { $0 ^ $1 }
            return (0..<bits).allSatisfy { differing[$0 / 8] & (0x80 >> ($0 % 8)) == 0 }
        }

        private static func isZero(_ bytes: [UInt8], from bits: Int) -> Bool {
            (bits..<bytes.count * 8).allSatisfy { bytes[$0 / 8] & (0x80 >> ($0 % 8)) == 0 }
        }
    }

    /// The longest text of an address.
    private static let longest = 45

    private let networks: [Network]

    package static let none = TrustedProxies(networks: [])

    private init(networks: [Network]) {
        self.networks = networks
    }

    /// - Parameter text: The list in the form of ``rule``.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        networks = parts.compactMap { Network($0) }
        guard !parts.isEmpty, networks.count == parts.count else { return nil }
    }

    package var isEmpty: Bool { networks.isEmpty }

    package func contains(_ address: String) -> Bool {
        guard !isEmpty, let address = IPAddress(address) else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// Returns the client's address: the address of the connection, or the one that a trusted proxy forwards.
    ///
    /// The last forwarded address that is not itself a proxy's counts. Earlier addresses may be forged by the client.
    ///
    /// - Parameter forwarded: The values of `X-Forwarded-For`, in order.
    package func client(at address: String, forwarded: [String]) -> String {
        var address = address
        guard contains(address) else { return address }
        var hops = forwarded.flatMap { $0.split(separator: ",") }
        while contains(address), let hop = hops.popLast() { address = Self.address(in: hop) }
        return address
    }

    /// Removes the port that some proxies append to the client's address: `192.0.2.1:50123`, `[2001:db8::1]:50123`.
    private static func address(in hop: Substring) -> String {
        let hop = hop.drop(while: \.isWhitespace)
        if hop.first == "[" { return String(hop.dropFirst().prefix { $0 != "]" }.prefix(longest)) }
        let word = hop.prefix { !$0.isWhitespace }
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        let isIPv4WithPort = parts.count == 2 && parts[0].contains(".")
        return String((isIPv4WithPort ? parts[0] : word).prefix(longest))
    }
}
