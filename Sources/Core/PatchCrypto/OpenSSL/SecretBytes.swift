import COpenSSL

/// How two secrets are compared.
package enum SecretBytes {
    /// Whether both hold the same bytes; how long it takes tells their counts, and nothing of what is in them.
    ///
    /// OpenSSL compares. Folding with `|` and `^` by hand goes wrong unseen: in Swift both bind alike.
    package static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        let (first, second) = (Array(first), Array(second))
        guard first.count == second.count else { return false }
        return unsafe CRYPTO_memcmp(first, second, first.count) == 0
    }
}
