/// Reads around a position in bytes without leaving their bounds.
struct ByteText {
    let bytes: [UInt8]

    subscript(_ place: Int) -> UInt8? { bytes.indices.contains(place) ? bytes[place] : nil }

    func holds(_ text: StaticString, at place: Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard place >= 0, place + count <= bytes.count else { return false }
        return (0..<count).allSatisfy { unsafe bytes[place + $0] == text.utf8Start[$0] }
    }

    /// Whether a range contains a text.
    func holds(_ text: StaticString, in range: Range<Int>) -> Bool {
        let range = range.clamped(to: 0..<bytes.count)
        let first = unsafe text.utf8Start[0]
        return range.contains { bytes[$0] == first && holds(text, at: $0) }
    }

    /// The number of consecutive bytes of an alphabet.
    func count(of alphabet: Alphabet, from start: Int, atMost most: Int = 4_096) -> Int {
        guard start >= 0 else { return 0 }
        var place = start
        while place < min(bytes.count, start + most), alphabet.holds(bytes[place]) { place += 1 }
        return place - start
    }

    func skipSpaces(from start: Int) -> Int {
        var place = start
        while let byte = self[place], byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
        return place
    }

    /// The position after the last byte before `end` that is not a space.
    func skipSpacesBack(from end: Int) -> Int {
        var place = end
        while let byte = self[place - 1], byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place -= 1 }
        return place
    }

    /// Whether a text looks random, unlike a placeholder such as `xxxx` or `EXAMPLE`.
    func isRandom(_ range: Range<Int>) -> Bool {
        let range = range.clamped(to: 0..<bytes.count)
        return Set(bytes[range]).count >= 8 && !holds("EXAMPLE", in: range)
    }
}

/// The bytes that a kind of text consists of.
enum Alphabet {
    case base64, base64URL, alphanumeric, word, base32, bech32, digits

    func holds(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            self != .base32 || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self != .digits
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self != .base32 && self != .bech32 && self != .digits
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): self == .base64
        case UInt8(ascii: "-"): self == .base64URL
        case UInt8(ascii: "_"): self == .base64URL || self == .word
        default: false
        }
    }
}
