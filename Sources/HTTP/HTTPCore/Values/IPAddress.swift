/// An IPv4 or IPv6 address, parsed from text.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) equals the IPv4 address.
package struct IPAddress: Hashable, Sendable {
    /// Four or sixteen bytes.
    package let bytes: [UInt8]

    package init?(_ text: some StringProtocol) {
        let text = text.prefix { $0 != "%" }  // the zone of a link-local address
        guard let bytes = text.contains(":") ? Self.six(text) : Self.four(text) else { return nil }
        let isMapped = bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    /// The address as text.
    ///
    /// IPv6 is written with all of its groups.
    package var text: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        return groups.joined(separator: ":")
    }

    /// The part that identifies one customer: the IPv4 address, or the IPv6 network (/64).
    package var customer: String {
        bytes.count == 16 ? groups.prefix(4).joined(separator: ":") + "::/64" : text
    }

    private var groups: [String] {
        stride(from: 0, to: bytes.count, by: 2).map { index in
            let (high, low) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return String(high << 8 | low, radix: 16)
        }
    }

    // MARK: - Reading (RFC 4291 §2.2)

    private static func four(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part -> UInt8? in
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), part.count == 1 || !part.hasPrefix("0")
            else { return nil }
            return UInt8(part)
        }
        return bytes.count == 4 ? bytes : nil
    }

    private static func six(_ text: some StringProtocol) -> [UInt8]? {
        let halves = String(text).split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = sixteens(halves[0]), let tail = halves.count == 2 ? sixteens(halves[1]) : []
        else { return nil }
        let missing = 16 - head.count - tail.count
        guard halves.count == 2 ? missing >= 2 : missing == 0 else { return nil }
        return head + [UInt8](repeating: 0, count: missing) + tail
    }

    /// Parses groups of sixteen bits, the last two of which may be an IPv4 address.
    private static func sixteens(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains("."), let four = four(part) {
                bytes += four
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes
    }
}
