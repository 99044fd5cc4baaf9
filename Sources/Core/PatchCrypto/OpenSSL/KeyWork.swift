import COpenSSL

/// Limits the work for deriving a private key from its passphrase.
///
/// The file specifies the amount, so a hostile file could keep a thread busy for hours. It is checked before the work begins.
enum KeyWork {
    /// Rounds of PBKDF2 or of an older derivation: about a second.
    ///
    /// Our own files have 600,000, and those of the command `openssl` 2,048.
    static let iterations: UInt64 = 4_000_000
    /// The memory of scrypt in bytes: 128 · N · r.
    static let memory: UInt64 = 67_108_864
    /// The work of scrypt in blocks of 128 bytes: N · r · p.
    static let blocks: UInt64 = 1 << 21

    /// - Parameter pem: the limits apply to all its blocks together, because libcrypto tries one after the other.
    /// - Throws: `tooMuchWork`.
    static func check(_ pem: [UInt8]) throws(KeyError) {
        let bio = MemoryBIO(pem)
        var rounds: UInt64 = 0
        var blocks: UInt64 = 0
        while let work = next(in: bio) {
            rounds = sum(rounds, work.iterations)
            guard rounds <= iterations else {
                throw .tooMuchWork("\(rounds) rounds of key derivation; the limit is \(iterations)")
            }
            let memory = product(128, product(work.cost, work.block))
            guard memory <= Self.memory else {
                throw .tooMuchWork("scrypt with \(memory) bytes of memory; the limit is \(Self.memory)")
            }
            blocks = sum(blocks, product(product(work.cost, work.block), work.parallel))
            guard blocks <= Self.blocks else {
                throw .tooMuchWork("scrypt over \(blocks) blocks; the limit is \(Self.blocks)")
            }
        }
    }

    /// Returns the work of the next PEM block of any type, or nil at the end.
    private static func next(in bio: borrowing MemoryBIO) -> patchline_key_work? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var length = 0
        guard unsafe PEM_read_bio(bio.pointer, &name, &header, &data, &length) == 1 else {
            _ = lastOpenSSLError()
            return nil
        }
        defer {
            unsafe CRYPTO_free(name, nil, 0)
            unsafe CRYPTO_free(header, nil, 0)
            unsafe CRYPTO_free(data, nil, 0)
        }
        return unsafe patchline_work_of_key(data, length)
    }

    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (value, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : value
    }

    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : value
    }
}
