/// The character classes of RFC 9110 §5.6 that the parsers here share.
extension UInt8 {
    /// Whether the byte is a `tchar`, of which methods and field names consist.
    @inlinable
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Whether a field value may contain the byte: visible ASCII, space, tab and `obs-text`.
    @inlinable
    package var isFieldValueCharacter: Bool {
        self >= 0x20 && self != 0x7F || self == 0x09
    }

    /// Whether the byte is optional white space, `OWS`.
    var isOptionalWhitespace: Bool { self == 0x20 || self == 0x09 }

    @inlinable
    package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    @inlinable
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// The slice without the white space at both ends.
    package var trimmed: ArraySlice<UInt8> {
        var slice = self.drop { $0.isOptionalWhitespace }
        while let last = slice.last, last.isOptionalWhitespace { slice.removeLast() }
        return slice
    }
}

extension StringProtocol {
    /// The elements of a comma-separated list field without empty ones (RFC 9110 §5.6.1).
    package var listElements: [String] {
        Array(utf8)[...].split(separator: UInt8(ascii: ",")).map { $0.trimmed }.filter { !$0.isEmpty }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
