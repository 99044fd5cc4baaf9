package import PatchFormat

/// Which digest of a file a JSPatch signature is over: its lowercase hex characters, not its bytes.
package enum JSPatchDigest: String, CaseIterable, Sendable {
    case md5, sha1

    package var length: Int {
        switch self {
        case .md5: 32
        case .sha1: 40
        }
    }

    package func text(of file: Fingerprint) -> String {
        switch self {
        case .md5: file.md5.hex
        case .sha1: file.sha1.hex
        }
    }
}

/// Why a JSPatch signature is not taken: each case is one broken rule.
package enum JSPatchError: Error, Equatable, Sendable {
    /// The key is no PEM public key.
    case notPEM
    case notRSA
    case tooSmall(bits: Int)
    /// More than 8,192 bits, or an exponent of more than 32.
    case tooCostly
    /// A signature is exactly as long as its key's modulus.
    case length(Int, expected: Int)
    /// Not below the modulus: no private key made it.
    case outOfRange
    /// The block does not begin with `00 01`.
    case blockType
    /// Something other than `FF` before the zero that ends the padding.
    case paddingByte(UInt8, at: Int)
    /// Fewer than eight bytes of padding.
    case shortPadding(Int)
    /// Padding to the end, and no text.
    case noText
    /// Not the length of the digest's hex form.
    case textLength(Int, expected: Int)
    /// Something other than `0` to `9` and `a` to `f`.
    case notHex
    /// A good signature over another file's digest.
    case otherDigest(signed: String, found: String)
}

extension JSPatchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notPEM: "is not a PEM public key"
        case .notRSA: "the key is not RSA"
        case .tooSmall(let bits): "the key has \(bits) bits; \(JSPatchPublicKey.minimumBits) are the least that is read"
        case .tooCostly: "the key has more than \(PublicKey.largestRSA) bits, or an exponent of more than 32"
        case .length(let found, let expected): "the signature has \(found) bytes where its key makes \(expected)"
        case .outOfRange: "the signature was not made by this key: it is not below the modulus"
        case .blockType: "the signature was not made by this key: its block does not begin with 00 01"
        case .paddingByte(let byte, let place):
            "byte \(place) of the padding is \(Hex.text([byte])) where only ff may stand"
        case .shortPadding(let count): "the padding has \(count) bytes where at least 8 must stand"
        case .noText: "the padding is followed by no text"
        case .textLength(let found, let expected):
            "the signature is over \(found) bytes where a digest has \(expected) characters"
        case .notHex: "the signature is over something other than lowercase hex digits"
        case .otherDigest(let signed, let found): "the signature is over \(signed), the file's digest is \(found)"
        }
    }
}
