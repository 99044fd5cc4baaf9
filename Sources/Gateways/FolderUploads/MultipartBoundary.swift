/// The boundary between the parts of a form: 1 to 70 characters (RFC 2046 §5.1.1).
package struct MultipartBoundary: Equatable, Sendable {
    let text: String

    /// Nil if the content type has no valid boundary.
    package init?(contentType: String) {
        let parameters = HeaderParameters(contentType.split(separator: ";", maxSplits: 1).dropFirst().first ?? "")
        guard let text = parameters?["boundary"], 1...70 ~= text.utf8.count,
            text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }), text.utf8.last != UInt8(ascii: " ")
        else { return nil }
        self.text = text
    }

    /// The delimiter, with the preceding line break, which belongs to it.
    var delimiter: [UInt8] { Array("\r\n--\(text)".utf8) }
}

/// The parameters of a header field: `; name=value; name="value"`.
struct HeaderParameters: Equatable, Sendable {
    private var values: [String: String] = [:]

    /// Nil if the text has another form, or a repeated name.
    init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ";") }
            guard !rest.isEmpty else { return }
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(decoding: rest[..<equals], as: UTF8.self).lowercased()
            rest = rest[rest.index(after: equals)...]
            guard let value = Self.value(&rest), values.updateValue(value, forKey: name) == nil else { return nil }
        }
    }

    subscript(_ name: String) -> String? { values[name] }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
            rest = rest[value.endIndex...]
            return String(validating: value, as: UTF8.self)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: value, as: UTF8.self)
            // Browsers do not escape a backslash, and curl writes one before a quote.
            case UInt8(ascii: "\\") where rest.first == UInt8(ascii: "\""):
                value.append(UInt8(ascii: "\""))
                rest = rest.dropFirst()
            default: value.append(byte)
            }
        }
        return nil
    }
}
