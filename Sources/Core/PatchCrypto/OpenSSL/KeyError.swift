/// Why a key cannot be used.
package enum KeyError: Error, Equatable, Sendable {
    /// The file is not PEM of the requested kind, or is damaged.
    case unreadable
    /// The key is encrypted, and no passphrase was given.
    case needsPassphrase
    case wrongPassphrase
    /// The passphrase is empty, has over 1,023 bytes or contains NUL. libcrypto or the openssl command could not open the key
    /// again.
    case unusablePassphrase
    /// RSA below 2,048 bits.
    case tooSmall(bits: Int)
    /// RSA above 8,192 bits.
    case tooLarge(bits: Int)
    /// RSA with an exponent of more than 32 bits.
    case longExponent
    /// Deriving the key from its passphrase needs more work than ``KeyWork`` allows.
    case tooMuchWork(String)
    /// Neither RSA, Ed25519 nor P-256.
    case unsupported
    /// A kind of key that is not allowed for this use.
    case unfit(KeyKind, wanted: String)
    /// libcrypto failed to make a key or a signature.
    case failed(String)
}

extension KeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable: "is not a PEM key"
        case .needsPassphrase: "is encrypted and no passphrase was given"
        case .wrongPassphrase: "does not open with this passphrase"
        case .unusablePassphrase: "needs a passphrase of 1 to 1,023 bytes without NUL"
        case .tooSmall(let bits): "has \(bits) bits; RSA keys need at least 2,048"
        case .tooLarge(let bits): "has \(bits) bits; RSA keys have at most 8,192"
        case .longExponent: "has a public exponent of more than 32 bits; the usual one is 65537"
        case .tooMuchWork(let what): "asks for \(what)"
        case .unsupported: "is neither RSA, Ed25519 nor P-256"
        case .unfit(let kind, let wanted): "is \(kind), where \(wanted) is needed"
        case .failed(let what): "failed: \(what)"
        }
    }
}
