/// The character classes of RFC 9110 §5.6 that the parsers here share.
extension UInt8 {
    /// `tchar`: methods and field names are made of it.
    var isTokenCharacter: Bool {
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

    /// What a field value may hold: visible ASCII, space, tab and `obs-text`.
    var isFieldValueCharacter: Bool {
        self >= 0x20 && self != 0x7F || self == 0x09
    }

    /// Optional white space, `OWS`.
    var isOptionalWhitespace: Bool { self == 0x20 || self == 0x09 }

    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without the white space at both ends.
    var trimmed: ArraySlice<UInt8> {
        var slice = self.drop { $0.isOptionalWhitespace }
        while let last = slice.last, last.isOptionalWhitespace { slice.removeLast() }
        return slice
    }
}

extension StringProtocol {
    /// The elements of a comma-separated list field; empty ones are skipped (RFC 9110 §5.6.1).
    var listElements: [String] {
        Array(utf8)[...].split(separator: UInt8(ascii: ",")).map { $0.trimmed }.filter { !$0.isEmpty }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
