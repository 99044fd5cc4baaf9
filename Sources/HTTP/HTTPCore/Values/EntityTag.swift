/// An entity tag as a client sends it back (RFC 9110 §8.8.3).
package struct EntityTag: Equatable, Sendable {
    /// The characters between the quotes.
    package let opaque: String
    package let isWeak: Bool

    /// Reads exactly one tag: `"abc"` or `W/"abc"`.
    package init?(parsing text: some StringProtocol) {
        var bytes = Array(text.utf8)[...].trimmed
        isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes.removeFirst(2) }
        guard bytes.count >= 2, bytes.popFirst() == UInt8(ascii: "\""), bytes.popLast() == UInt8(ascii: "\""),
            bytes.allSatisfy(Self.isTagCharacter)
        else { return nil }
        opaque = String(decoding: bytes, as: UTF8.self)
    }

    /// Whether `byte` is an `etagc`: visible, and not a quote.
    package static func isTagCharacter(_ byte: UInt8) -> Bool {
        byte == 0x21 || byte >= 0x23 && byte != 0x7F
    }
}

/// The value of If-Match or If-None-Match: any representation, or one of a list.
package enum EntityTagCondition: Equatable, Sendable {
    case any
    case oneOf([EntityTag])

    /// Nil if the field is absent.
    ///
    /// Elements that are not entity tags match nothing and are left out.
    package init?(parsing values: [String]) {
        if values.isEmpty { return nil }
        if values.count == 1, values[0].listElements == ["*"] {
            self = .any
        } else {
            self = .oneOf(values.flatMap(Self.tags))
        }
    }

    /// Weak comparison, for If-None-Match (§13.1.2); `current` is nil when the representation has no tag.
    package func matchesWeakly(_ current: String?) -> Bool {
        switch self {
        case .any: true
        case .oneOf(let tags): tags.contains { $0.opaque == current }
        }
    }

    /// Strong comparison, for If-Match (§13.1.1); our own tags are always strong.
    package func matchesStrongly(_ current: String?) -> Bool {
        switch self {
        case .any: true
        case .oneOf(let tags): tags.contains { !$0.isWeak && $0.opaque == current }
        }
    }

    /// Splits at the commas outside quotes: a comma is a legal tag character.
    private static func tags(in value: String) -> [EntityTag] {
        var elements: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted {
                elements.append([])
            } else {
                elements[elements.count - 1].append(byte)
            }
        }
        return elements.compactMap { EntityTag(parsing: String(decoding: $0, as: UTF8.self)) }
    }
}
