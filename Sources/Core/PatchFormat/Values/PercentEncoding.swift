/// Decodes percent-encoded URLs (RFC 3986 §2.1).
///
/// ``URLLayout/percentEncoded(_:)`` encodes them.
package enum PercentEncoding {
    /// Returns nil if two hex digits do not follow a percent sign.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap({ Hex.value(of: $0, allowingUppercase: true) }),
                let low = rest.popFirst().flatMap({ Hex.value(of: $0, allowingUppercase: true) })
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
