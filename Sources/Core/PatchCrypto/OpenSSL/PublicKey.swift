import COpenSSL
package import PatchFormat

/// A signature algorithm.
package enum SignatureScheme: String, Sendable {
    /// RSASSA-PSS with SHA-256 and MGF1-SHA-256. Signs with a salt of 32 bytes, and verifies any salt length.
    case rsaPSS = "rsassa-pss-sha256"
    /// RSASSA-PKCS1-v1_5 with SHA-256: deterministic, and only for entry statements.
    case rsaPKCS1v15 = "rsa-pkcs1v15-sha256"
    case ed25519
    case ecdsaP256 = "ecdsa-sha2-nistp256"
}

/// A valid public key: RSA of 2,048 to 8,192 bits with an exponent below 2^32, Ed25519 or P-256.
package struct PublicKey: Hashable, Sendable {
    /// The size of the largest RSA key whose signatures fit into an entry, in bits.
    static let largestRSA = 8_192

    let handle: KeyHandle
    package let kind: KeyKind
    /// SHA-256 of the DER SubjectPublicKeyInfo: equal for equal keys, independently of their PEM.
    package let material: SHA256Digest

    init(_ handle: KeyHandle) throws(KeyError) {
        guard let kind = handle.kind else { throw .unsupported }
        if case .rsa(let bits) = kind {
            if bits < 2_048 { throw .tooSmall(bits: bits) }
            // The time to verify a signature grows with both.
            if bits > Self.largestRSA { throw .tooLarge(bits: bits) }
            guard handle.hasShortExponent else { throw .longExponent }
        }
        if case .p256 = kind { try handle.normalizeCurve() }
        self.handle = handle
        self.kind = kind
        let bio = MemoryBIO()
        guard unsafe i2d_PUBKEY_bio(bio.pointer, handle.pointer) == 1 else { throw .failed(lastOpenSSLError()) }
        material = SHA256Digest(of: bio.bytes())
    }

    /// Reads `-----BEGIN PUBLIC KEY-----` (TUF 4.2.2).
    ///
    /// Other forms are rejected.
    package init(pem: String) throws(KeyError) {
        if let known = KnownKeys.key(pem) {
            self = known
            return
        }
        guard let handle = KeyHandle(publicPEM: pem) else { throw .unreadable }
        try self.init(handle)
        KnownKeys.add(self, pem)
    }

    /// Reads 32 raw bytes.
    package init(ed25519 bytes: [UInt8]) throws(KeyError) {
        CryptoLibrary.outliveExit()
        guard bytes.count == 32,
            let pointer = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        else {
            _ = lastOpenSSLError()
            throw .unreadable
        }
        try unsafe self.init(KeyHandle(owning: pointer))
    }

    package var pem: String {
        let bio = MemoryBIO()
        let done = unsafe PEM_write_bio_PUBKEY(bio.pointer, handle.pointer)
        precondition(done == 1, "libcrypto cannot write a key that it holds")
        return String(decoding: bio.bytes(), as: UTF8.self)
    }

    /// The 32 raw bytes of an Ed25519 key, or nil for another kind.
    package var ed25519Bytes: [UInt8]? {
        guard kind == .ed25519 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        var length = bytes.count
        let done = unsafe EVP_PKEY_get_raw_public_key(handle.pointer, &bytes, &length)
        precondition(done == 1 && length == 32, "libcrypto cannot write a key that it holds")
        return bytes
    }

    /// Whether this key's private half signed `message`.
    ///
    /// False also if the scheme does not fit the key.
    package func verifies(_ signature: [UInt8], over message: [UInt8], scheme: SignatureScheme) -> Bool {
        guard scheme.fits(kind), let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        let digest = scheme == .ed25519 ? nil : unsafe EVP_sha256()
        guard unsafe EVP_DigestVerifyInit(context, &keyContext, digest, nil, handle.pointer) == 1,
            unsafe scheme.setPadding(keyContext, saltLength: RSA_PSS_SALTLEN_AUTO)
        else {
            _ = lastOpenSSLError()
            return false
        }
        let verified = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !verified { _ = lastOpenSSLError() }
        return verified
    }

    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.material == right.material
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(material)
    }
}

extension SignatureScheme {
    package func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPSS, .rsa), (.rsaPKCS1v15, .rsa), (.ed25519, .ed25519), (.ecdsaP256, .p256): true
        case (.rsaPSS, _), (.rsaPKCS1v15, _), (.ed25519, _), (.ecdsaP256, _): false
        }
    }

    /// - Throws: `unfit` for a key of another kind than this scheme needs.
    package func check(_ kind: KeyKind) throws(KeyError) {
        guard fits(kind) else { throw .unfit(kind, wanted: wanted) }
    }

    private var wanted: String {
        switch self {
        case .rsaPSS, .rsaPKCS1v15: KeyKind.anyRSA
        case .ed25519: KeyKind.ed25519.description
        case .ecdsaP256: KeyKind.p256.description
        }
    }

    func setPadding(_ context: OpaquePointer?, saltLength: Int32) -> Bool {
        switch self {
        case .rsaPSS:
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, saltLength) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
        case .rsaPKCS1v15: unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .ed25519, .ecdsaP256: true
        }
    }
}
