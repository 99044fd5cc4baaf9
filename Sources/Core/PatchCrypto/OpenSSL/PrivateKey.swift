import COpenSSL
import PatchFormat

/// A private key in memory.
///
/// It never prints itself.
package struct PrivateKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    package let publicKey: PublicKey

    package var description: String { "‹private key›" }

    private init(_ handle: KeyHandle) throws(KeyError) {
        self.handle = handle
        publicKey = try PublicKey(handle)
    }

    /// Makes a new key.
    package static func generate(_ kind: KeyKind) throws(KeyError) -> PrivateKey {
        try PrivateKey(KeyHandle(generating: kind))
    }

    /// Whether a passphrase is needed to read this PEM text.
    package static func isEncrypted(_ pem: String) -> Bool {
        KeyHandle.isEncrypted(pem)
    }

    /// Reads PKCS#8 (or the older RSA form).
    ///
    /// Comments may precede the first `-----BEGIN`.
    package init(pem: [UInt8], passphrase: String?) throws(KeyError) {
        try self.init(KeyHandle(privatePEM: pem, passphrase: passphrase))
    }

    /// Rounds of HMAC-SHA-256 for a passphrase: a quarter of a second, as OWASP's Password Storage Cheat Sheet asks for.
    ///
    /// libcrypto's own default of 2,048 lets a thief try a million passphrases a minute.
    private static let rounds: Int32 = 600_000

    /// PKCS#8, encrypted with AES-256-CBC under a PBKDF2 key.
    package func pem(passphrase: String) throws(KeyError) -> [UInt8] {
        guard (1...1_023).contains(passphrase.utf8.count), !passphrase.utf8.contains(0) else {
            throw .unusablePassphrase
        }
        let secret = Array(passphrase.utf8CString)
        var salt = SecureRandom.bytes(16)
        guard let info = unsafe EVP_PKEY2PKCS8(handle.pointer) else { throw .failed(lastOpenSSLError()) }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        let sealed = unsafe PKCS8_encrypt(
            -1,
            EVP_aes_256_cbc(),
            secret,
            Int32(secret.count - 1),
            &salt,
            Int32(salt.count),
            Self.rounds,
            info
        )
        guard let sealed = unsafe sealed else { throw .failed(lastOpenSSLError()) }
        defer { unsafe X509_SIG_free(sealed) }
        let bio = MemoryBIO()
        guard unsafe PEM_write_bio_PKCS8(bio.pointer, sealed) == 1 else { throw .failed(lastOpenSSLError()) }
        return bio.bytes()
    }

    /// Unencrypted PKCS#8, only for an explicit request.
    package func unencryptedPEM() throws(KeyError) -> [UInt8] {
        let bio = MemoryBIO()
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, handle.pointer, nil, nil, 0, nil, nil) == 1 else {
            throw .failed(lastOpenSSLError())
        }
        return bio.bytes()
    }

    package func sign(_ message: [UInt8], scheme: SignatureScheme) throws(KeyError) -> [UInt8] {
        try scheme.check(publicKey.kind)
        return try handle.sign(message, scheme: scheme)
    }

    /// Signs the bare text in a PKCS#1 type-1 block: see ``JSPatchSignature``.
    func signBare(_ text: [UInt8]) throws(KeyError) -> [UInt8] {
        try publicKey.kind.checkRSA()
        return try handle.signBare(text)
    }
}

/// Cryptographically secure random bytes.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        CryptoLibrary.outliveExit()
        var out = [UInt8](repeating: 0, count: count)
        let done = unsafe RAND_bytes(&out, Int32(count))
        precondition(done == 1, "libcrypto has no randomness")
        return out
    }
}
