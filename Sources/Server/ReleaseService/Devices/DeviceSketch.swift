import Glibc
package import PatchFormat
import PatchCrypto

/// An approximate number of devices: a HyperLogLog of 2,048 registers, with an error of some 2 %, and exact for a few.
///
/// It takes 2 KB for any number of devices, stores no ids, and counts an id once. Ids are hashed with a secret salt, so that no id
/// can be crafted to count for many.
package struct DeviceSketch: Equatable, Sendable {
    package static let registers = 2_048
    private static let indexBits = 11
    package static let saltBytes = 16

    package private(set) var ranks: [UInt8]

    package init() {
        ranks = Array(repeating: 0, count: Self.registers)
    }

    /// - Returns: whether anything changed.
    package mutating func add(_ device: String, salt: [UInt8]) -> Bool {
        let digest = SHA256Digest(of: salt + Array(device.utf8)).bytes
        let hash = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let register = Int(hash >> UInt64(64 - Self.indexBits))
        let rank = UInt8(min((hash << UInt64(Self.indexBits)).leadingZeroBitCount, 64 - Self.indexBits) + 1)
        guard ranks[register] < rank else { return false }
        ranks[register] = rank
        return true
    }

    /// A sketch of the devices in either.
    package func union(_ other: DeviceSketch) -> DeviceSketch {
        var union = self
        for (index, rank) in other.ranks.enumerated() { union.ranks[index] = max(union.ranks[index], rank) }
        return union
    }

    /// The estimate by Flajolet and others, 2007; by the number of empty registers while many are empty.
    package var count: Int {
        let size = Double(Self.registers)
        let estimate = 0.7213 / (1 + 1.079 / size) * size * size / ranks.reduce(0) { $0 + exp2(-Double($1)) }
        let empty = ranks.count { $0 == 0 }
        guard estimate <= 2.5 * size, empty > 0 else { return Int(estimate.rounded()) }
        return Int((size * log(size / Double(empty))).rounded())
    }

    package var json: JSON { .fields([("registers", .text(Base64.text(ranks)))]) }

    package init(_ fields: Fields) throws(FormatError) {
        guard let ranks = Base64.bytes(try fields.string("registers")), ranks.count == Self.registers,
            ranks.allSatisfy({ $0 <= UInt8(64 - Self.indexBits + 1) })
        else { throw fields.broken("registers", "must be base64 of \(Self.registers) small numbers") }
        self.ranks = ranks
    }
}
