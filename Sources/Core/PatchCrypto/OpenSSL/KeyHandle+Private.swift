import COpenSSL
import PatchFormat

/// Reads private keys from files. The caller decides which of them may sign.
extension KeyHandle {
    /// Whether a passphrase is needed to read this PEM text.
    static func isEncrypted(_ pem: String) -> Bool {
        pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || pem.contains("Proc-Type: 4,ENCRYPTED")
    }

    /// Reads PKCS#8 (or the older RSA form).
    ///
    /// Comments may precede the first `-----BEGIN`.
    convenience init(privatePEM pem: [UInt8], passphrase: String?) throws(KeyError) {
        guard pem.count <= Limits.keyFile, let text = String(validating: pem, as: UTF8.self) else { throw .unreadable }
        let encrypted = Self.isEncrypted(text)
        guard !encrypted || passphrase != nil else { throw .needsPassphrase }
        if encrypted { try KeyWork.check(pem) }
        let bio = MemoryBIO(pem)
        let found: OpaquePointer?
        if let passphrase, encrypted {
            var secret = Array(passphrase.utf8CString)
            unsafe found = secret.withUnsafeMutableBytes {
                unsafe PEM_read_bio_PrivateKey(bio.pointer, nil, nil, $0.baseAddress)
            }
            unsafe secret.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
        } else {
            unsafe found = PEM_read_bio_PrivateKey(bio.pointer, nil, PassphraseCallback.refuse, nil)
        }
        guard let pointer = unsafe found else {
            _ = lastOpenSSLError()
            throw encrypted ? .wrongPassphrase : .unreadable
        }
        unsafe self.init(owning: pointer)
    }
}
