/// A hash function: its name in documents and the length of its result in bytes.
package protocol DigestAlgorithm: Sendable {
    associatedtype Words: DigestWords
    static var name: String { get }
}

extension DigestAlgorithm {
    package static var byteCount: Int { Words.byteCount }
}

package enum MD5: DigestAlgorithm {
    package typealias Words = FourWords
    package static let name = "md5"
}

package enum SHA1: DigestAlgorithm {
    package typealias Words = FiveWords
    package static let name = "sha1"
}

package enum SHA256: DigestAlgorithm {
    package typealias Words = EightWords
    package static let name = "sha256"
}

/// A digest of the right length for its algorithm, written as lowercase hex.
///
/// It is stored inline, because a manifest of 100,000 assets contains 300,000 of them.
package struct Digest<Algorithm: DigestAlgorithm>: Hashable, Comparable, Sendable, CustomStringConvertible {
    @usableFromInline let words: Algorithm.Words

    @inlinable
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Algorithm.byteCount else { return nil }
        var rest = bytes.makeIterator()
        words = Algorithm.Words {
            var word: UInt32 = 0
            for _ in 0..<4 { word = word << 8 | UInt32(rest.next() ?? 0) }
            return word
        }
    }

    @inlinable
    package init?(hex: String) {
        guard hex.utf8.count == Algorithm.byteCount * 2 else { return nil }
        var rest = hex.utf8.makeIterator()
        var isHex = true
        words = Algorithm.Words {
            var word: UInt32 = 0
            for _ in 0..<8 {
                let digit = rest.next().flatMap { Hex.value(of: $0) }
                if digit == nil { isHex = false }
                word = word << 4 | UInt32(digit ?? 0)
            }
            return word
        }
        guard isHex else { return nil }
    }

    @inlinable
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(Algorithm.byteCount)
        words.forEach { word in
            out.append(UInt8(truncatingIfNeeded: word >> 24))
            out.append(UInt8(truncatingIfNeeded: word >> 16))
            out.append(UInt8(truncatingIfNeeded: word >> 8))
            out.append(UInt8(truncatingIfNeeded: word))
        }
        return out
    }

    @inlinable
    package static func == (left: Digest, right: Digest) -> Bool {
        left.words == right.words
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        words.forEach { hasher.combine($0) }
    }

    package var hex: String { Hex.text(bytes) }

    package var description: String { hex }

    @inlinable
    package static func < (left: Digest, right: Digest) -> Bool {
        left.words < right.words
    }
}

package typealias MD5Digest = Digest<MD5>
package typealias SHA1Digest = Digest<SHA1>
package typealias SHA256Digest = Digest<SHA256>

/// The size of a file and its three digests.
///
/// Every entry contains one.
///
/// Patchline relies on `sha256`. `md5` and `sha1` exist for readers that know only them, and are checked as well.
package struct Fingerprint: Hashable, Sendable {
    /// The size in bytes.
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

    /// The name of the first difference, cheapest comparison first, or nil if both are equal.
    package func firstDifference(from other: Fingerprint) -> String? {
        if size != other.size { return "size" }
        if md5 != other.md5 { return "md5" }
        if sha1 != other.sha1 { return "sha1" }
        if sha256 != other.sha256 { return "sha256" }
        return nil
    }
}
