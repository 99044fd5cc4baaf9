/// Reads numbers at positions of a binary table.
///
/// They are big-endian, so that comparing bytes compares numbers.
package struct FixedRows: Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// All ones beyond the end of the table, to which a damaged file may refer.
    @inlinable
    package func number(at place: Int, bytes count: Int) -> UInt64 {
        guard place <= bytes.count - count else { return .max >> (64 - 8 * UInt64(count)) }
        var value: UInt64 = 0
        for byte in bytes[place..<place + count] { value = value << 8 | UInt64(byte) }
        return value
    }

    package static func append(_ number: some BinaryInteger, bytes count: Int, to out: inout [UInt8]) {
        let value = UInt64(truncatingIfNeeded: number)
        for byte in (0..<count).reversed() { out.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(byte)))) }
    }
}
