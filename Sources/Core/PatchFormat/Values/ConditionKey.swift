/// The name of a fact that a device knows about itself: `region`, `isMale`.
///
/// Names are case-insensitive.
package struct ConditionKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let rule = "must be 1 to 64 of A-Z a-z 0-9 . _ -"
    /// The name in lower case.
    package let text: String

    package init?(_ text: String) {
        let lower = text.lowercased()
        guard (1...64).contains(text.utf8.count),
            lower.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            })
        else { return nil }
        self.text = lower
    }

    package var description: String { text }

    package static func < (left: ConditionKey, right: ConditionKey) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// The device's value for a key.
package struct ConditionValue: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "must be 1 to 256 bytes without control characters, = ! < > & | ( ) and outer spaces"
    package let text: String

    package init?(_ text: String) {
        let reserved = Set("=!<>&|()".unicodeScalars)
        guard (1...256).contains(text.utf8.count), text.utf8.first != 0x20, text.utf8.last != 0x20,
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control && !reserved.contains($0) })
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func == (left: ConditionValue, right: ConditionValue) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(text))
    }

    /// The value as a number: digits with at most a minus sign in front and one point between them.
    ///
    /// Nil for anything else.
    package var number: Double? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard digits.count <= 30, (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) })
        else { return nil }
        return Double(text)
    }
}
