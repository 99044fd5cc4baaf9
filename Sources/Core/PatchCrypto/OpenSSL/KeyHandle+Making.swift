import COpenSSL
import PatchFormat

extension KeyHandle {
    /// Reads one `-----BEGIN PUBLIC KEY-----` block, or returns nil for any other text.
    ///
    /// A second block is rejected: libcrypto would use it if it cannot read the first, and other readers would not.
    convenience init?(publicPEM pem: String) {
        guard pem.utf8.count <= Limits.keyFile, pem.hasPrefix("-----BEGIN PUBLIC KEY-----"),
            pem.ranges(of: "-----BEGIN ").count == 1
        else { return nil }
        let bio = MemoryBIO(Array(pem.utf8))
        guard let pointer = unsafe PEM_read_bio_PUBKEY(bio.pointer, nil, PassphraseCallback.refuse, nil) else {
            _ = lastOpenSSLError()
            return nil
        }
        unsafe self.init(owning: pointer)
    }

    /// Makes a new key.
    convenience init(generating kind: KeyKind) throws(KeyError) {
        let algorithm =
            switch kind {
            case .rsa: EVP_PKEY_RSA
            case .ed25519: EVP_PKEY_ED25519
            case .p256: EVP_PKEY_EC
            }
        guard let context = unsafe EVP_PKEY_CTX_new_id(algorithm, nil) else { throw .failed(lastOpenSSLError()) }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe kind.setParameters(context),
            unsafe EVP_PKEY_keygen(context, &pointer) == 1, let made = unsafe pointer
        else { throw .failed(lastOpenSSLError()) }
        unsafe self.init(owning: made)
    }

    /// Signs with a scheme that fits the key's kind.
    ///
    /// RSA-PSS uses a salt of 32 bytes.
    func sign(_ message: [UInt8], scheme: SignatureScheme) throws(KeyError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .failed(lastOpenSSLError()) }
        defer { unsafe EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        let digest = scheme == .ed25519 ? nil : unsafe EVP_sha256()
        var length = Int(unsafe EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSignInit(context, &keyContext, digest, nil, pointer) == 1,
            unsafe scheme.setPadding(keyContext, saltLength: 32),
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw .failed(lastOpenSSLError()) }
        return Array(signature.prefix(length))
    }

    /// Applies the private exponent to `00 01 FF… 00` and the text: RSASSA-PKCS1-v1_5 without DigestInfo.
    func signBare(_ text: [UInt8]) throws(KeyError) -> [UInt8] {
        guard let context = unsafe EVP_PKEY_CTX_new(pointer, nil) else { throw .failed(lastOpenSSLError()) }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var length = Int(unsafe EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_PKEY_sign_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            unsafe EVP_PKEY_sign(context, &signature, &length, text, text.count) == 1
        else { throw .failed(lastOpenSSLError()) }
        // An engine leaves errors in the queue even if it succeeds.
        _ = lastOpenSSLError()
        return Array(signature.prefix(length))
    }
}

extension KeyKind {
    fileprivate func setParameters(_ context: OpaquePointer) -> Bool {
        switch self {
        case .rsa(let bits): unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1
        case .p256: unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
        case .ed25519: true
        }
    }
}
