/// A hash function by its name in documents and the length of its result in bytes.
package protocol DigestAlgorithm: Sendable {
    static var name: String { get }
    static var byteCount: Int { get }
}

package enum MD5: DigestAlgorithm {
    package static let name = "md5"
    package static let byteCount = 16
}

package enum SHA1: DigestAlgorithm {
    package static let name = "sha1"
    package static let byteCount = 20
}

package enum SHA256: DigestAlgorithm {
    package static let name = "sha256"
    package static let byteCount = 32
}

/// A digest that has the right length for its algorithm; written as lowercase hex.
package struct Digest<Algorithm: DigestAlgorithm>: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Algorithm.byteCount else { return nil }
        self.bytes = bytes
    }

    package init?(hex: String) {
        guard let bytes = Hex.bytes(hex) else { return nil }
        self.init(bytes: bytes)
    }

    package var hex: String { Hex.text(bytes) }

    package var description: String { hex }

    package static func < (left: Digest, right: Digest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

package typealias MD5Digest = Digest<MD5>
package typealias SHA1Digest = Digest<SHA1>
package typealias SHA256Digest = Digest<SHA256>

/// What every entry says of its bytes: their count and three digests.
///
/// Patchline relies on `sha256`; `md5` and `sha1` are for readers that know only them, and are checked all the same.
package struct Fingerprint: Hashable, Sendable {
    /// In bytes.
    package let size: Int
    package let md5: MD5Digest
    package let sha1: SHA1Digest
    package let sha256: SHA256Digest

    package init(size: Int, md5: MD5Digest, sha1: SHA1Digest, sha256: SHA256Digest) {
        self.size = size
        self.md5 = md5
        self.sha1 = sha1
        self.sha256 = sha256
    }

    package var members: [(String, JSON?)] {
        [("size", .integer(size)), ("md5", .text(md5.hex)), ("sha1", .text(sha1.hex)), ("sha256", .text(sha256.hex))]
    }

    /// The first digest in which the two differ, cheapest first; nil when they are equal.
    package func firstDifference(from other: Fingerprint) -> String? {
        if size != other.size { return "size" }
        if md5 != other.md5 { return "md5" }
        if sha1 != other.sha1 { return "sha1" }
        if sha256 != other.sha256 { return "sha256" }
        return nil
    }
}
