package import PatchFormat

/// The digest of a file that a JSPatch signature covers: its lowercase hex characters, not its bytes.
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

/// Why a JSPatch signature is rejected.
///
/// Each case is one broken rule.
package enum JSPatchError: Error, Equatable, Sendable {
    /// The key is not a PEM public key.
    case notPEM
    case notRSA
    case tooSmall(bits: Int)
    /// The key has more than 8,192 bits, or an exponent of more than 32.
    case tooCostly
    /// The signature is not exactly as long as its key's modulus.
    case length(Int, expected: Int)
    /// The signature is not below the modulus, so it was not made by a private key.
    case outOfRange
    /// The block does not begin with `00 01`.
    case blockType
    /// A byte other than `FF` before the zero that ends the padding.
    case paddingByte(UInt8, at: Int)
    /// The padding has fewer than eight bytes.
    case shortPadding(Int)
    /// The padding extends to the end, so the text is missing.
    case noText
    /// The text does not have the length of the digest's hex form.
    case textLength(Int, expected: Int)
    /// A character other than `0` to `9` and `a` to `f`.
    case notHex
    /// A valid signature over another file's digest.
    case otherDigest(signed: String, found: String)
}

extension JSPatchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notPEM: "is not a PEM public key"
        case .notRSA: "the key is not RSA"
        case .tooSmall(let bits): "the key has \(bits) bits; the minimum is \(JSPatchPublicKey.minimumBits)"
        case .tooCostly: "the key has more than \(PublicKey.largestRSA) bits, or an exponent of more than 32"
        case .length(let found, let expected): "the signature has \(found) bytes; this key makes \(expected)"
        case .outOfRange: "the signature was not made by this key: it is not below the modulus"
        case .blockType: "the signature was not made by this key: its block does not begin with 00 01"
        case .paddingByte(let byte, let place):
            "byte \(place) of the padding is \(Hex.text([byte])) instead of ff"
        case .shortPadding(let count): "the padding has \(count) bytes; the minimum is 8"
        case .noText: "no text follows the padding"
        case .textLength(let found, let expected):
            "the signature covers \(found) bytes; a digest has \(expected) characters"
        case .notHex: "the signature covers other text than lowercase hex digits"
        case .otherDigest(let signed, let found): "the signature covers \(signed), the file's digest is \(found)"
        }
    }
}
