/// One member of a query: `name=value`, or a name alone.
package struct QueryMember: Equatable, Sendable {
    /// The name as the client sent it.
    package let spelledName: String
    package let spelledValue: String

    /// The members of a query, in its order.
    package static func all(of query: String?) -> [QueryMember] {
        (query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryMember(spelledName: String(parts[0]), spelledValue: parts.count == 2 ? String(parts[1]) : "")
        }
    }

    /// The decoded name, or nil if an escape is invalid.
    package var name: String? { Self.decoded(spelledName, plusIsSpace: true) }

    /// Returns the decoded value, or nil if an escape is invalid.
    ///
    /// - Parameter plusIsSpace: Whether `+` is a space, as in forms.
    package func value(plusIsSpace: Bool) -> String? { Self.decoded(spelledValue, plusIsSpace: plusIsSpace) }

    private static func decoded(_ text: String, plusIsSpace: Bool) -> String? {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                guard digits.count == 2 else { return nil }
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
