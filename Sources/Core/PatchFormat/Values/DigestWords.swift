/// The bytes of a digest as big-endian words, so that comparing words compares bytes.
package protocol DigestWords: Hashable, Comparable, Sendable {
    static var byteCount: Int { get }
    /// - Parameter next: called once for each word, in order.
    init(next: () -> UInt32)
    func forEach(_ body: (UInt32) -> Void)
}

/// 128 bits.
package struct FourWords: DigestWords {
    package static let byteCount = 16
    @usableFromInline let a, b, c, d: UInt32

    @inlinable
    package init(next: () -> UInt32) {
        (a, b, c, d) = (next(), next(), next(), next())
    }

    @inlinable
    package func forEach(_ body: (UInt32) -> Void) {
        body(a)
        body(b)
        body(c)
        body(d)
    }

    @inlinable
    package static func < (left: FourWords, right: FourWords) -> Bool {
        (left.a, left.b, left.c, left.d) < (right.a, right.b, right.c, right.d)
    }
}

/// 160 bits.
package struct FiveWords: DigestWords {
    package static let byteCount = 20
    @usableFromInline let first: FourWords
    @usableFromInline let last: UInt32

    @inlinable
    package init(next: () -> UInt32) {
        first = FourWords(next: next)
        last = next()
    }

    @inlinable
    package func forEach(_ body: (UInt32) -> Void) {
        first.forEach(body)
        body(last)
    }

    @inlinable
    package static func < (left: FiveWords, right: FiveWords) -> Bool {
        (left.first, left.last) < (right.first, right.last)
    }
}

/// 256 bits.
package struct EightWords: DigestWords {
    package static let byteCount = 32
    @usableFromInline let first, last: FourWords

    @inlinable
    package init(next: () -> UInt32) {
        first = FourWords(next: next)
        last = FourWords(next: next)
    }

    @inlinable
    package func forEach(_ body: (UInt32) -> Void) {
        first.forEach(body)
        last.forEach(body)
    }

    @inlinable
    package static func < (left: EightWords, right: EightWords) -> Bool {
        (left.first, left.last) < (right.first, right.last)
    }
}
