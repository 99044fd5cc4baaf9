import COpenSSL

/// Compares secrets.
package enum SecretBytes {
    /// Whether both have the same bytes.
    ///
    /// The time reveals only their lengths.
    ///
    /// OpenSSL compares them. A hand-written loop with `|` and `^` is easily wrong, because both have the same precedence in Swift.
    package static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        let (first, second) = (Array(first), Array(second))
        guard first.count == second.count else { return false }
        return unsafe CRYPTO_memcmp(first, second, first.count) == 0
    }
}
