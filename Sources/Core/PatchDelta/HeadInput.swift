/// Reads the numbers and bytes of a decompressed head.
///
/// A number is LEB128: seven bits a byte, the lowest first, and the high bit on all but the last; at most 2^53 − 1.
struct HeadInput {
    static let largest = 1 << 53 - 1

    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number(upTo limit: Int = largest, _ rule: PackError.HeadRule = .number) throws(PackError) -> Int {
        var (value, shift) = (0, 0)
        while position < bytes.count, shift < 56 {
            let byte = bytes[position]
            position += 1
            value |= Int(byte & 0x7F) << shift
            shift += 7
            guard byte < 0x80 else { continue }
            // Leading zeros are rejected, so that each number has one encoding.
            guard value <= Self.largest, byte != 0 || shift == 7 else { throw .head(.number) }
            guard value <= limit else { throw .head(rule) }
            return value
        }
        throw .head(.number)
    }

    /// Reads a signed number, encoded as 0, −1, 1, −2 and so on.
    mutating func difference() throws(PackError) -> Int {
        let number = try number()
        return number >> 1 ^ -(number & 1)
    }

    mutating func bytes(_ count: Int, _ rule: PackError.HeadRule) throws(PackError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw .head(rule) }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Returns the bytes before the next newline, and skips the newline.
    mutating func line() throws(PackError) -> ArraySlice<UInt8> {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else { throw .head(.rowLine) }
        defer { position = end + 1 }
        return bytes[position..<end]
    }
}

extension [UInt8] {
    mutating func append(number: Int) {
        var rest = UInt(number)
        while rest >= 0x80 {
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func append(difference: Int) {
        append(number: difference << 1 ^ difference >> (Int.bitWidth - 1))
    }
}
