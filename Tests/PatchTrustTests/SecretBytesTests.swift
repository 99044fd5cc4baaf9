import PatchTesting
import PatchCrypto
import Testing

@Suite("Two secrets")
struct SecretBytesTests {
    @Test func `are equal when every byte is, and not when a single bit is another`() {
        var chance = SeededGenerator(state: 5)
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &chance) }
        #expect(SecretBytes.areEqual(secret, secret))
        #expect(SecretBytes.areEqual([], []))
        for bit in 0..<256 {
            var other = secret
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(!SecretBytes.areEqual(secret, other), "bit \(bit)")
        }
        #expect(!SecretBytes.areEqual(secret, secret.dropLast()))
        #expect(!SecretBytes.areEqual(secret, secret + [0]))
    }

    /// What passes a comparison whose last byte alone decides.
    @Test func `are not equal because many of their bytes are`() {
        var chance = SeededGenerator(state: 6)
        for _ in 0..<10_000 {
            let one = (0..<16).map { _ in UInt8.random(in: 0...255, using: &chance) }
            var other = (0..<16).map { _ in UInt8.random(in: 0...255, using: &chance) }
            #expect(!SecretBytes.areEqual(one, other))
            other[15] = one[15]
            #expect(!SecretBytes.areEqual(one, other))
        }
    }
}
