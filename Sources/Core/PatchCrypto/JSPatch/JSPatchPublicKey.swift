import COpenSSL
package import PatchFormat

/// A public key for verifying JSPatch signatures only.
///
/// Packages in the field are signed with RSA-1024. Such keys are accepted only here and as a ``JSPatchPrivateKey``; this type is
/// separate from ``PublicKey``.
package struct JSPatchPublicKey: Sendable {
    package static let minimumBits = 1_024

    private let handle: KeyHandle
    package let bits: Int

    package init(_ key: PublicKey) throws(JSPatchError) {
        try self.init(key.handle)
    }

    /// Reads `-----BEGIN PUBLIC KEY-----`.
    ///
    /// Other forms are rejected.
    package init(pem: String) throws(JSPatchError) {
        guard let handle = KeyHandle(publicPEM: pem) else { throw .notPEM }
        try self.init(handle)
    }

    init(_ handle: KeyHandle) throws(JSPatchError) {
        guard case .rsa(let bits) = handle.kind else { throw .notRSA }
        guard bits >= Self.minimumBits else { throw .tooSmall(bits: bits) }
        guard bits <= PublicKey.largestRSA, handle.hasShortExponent else { throw .tooCostly }
        self.handle = handle
        self.bits = bits
    }

    /// Checks that `signature` is over this digest of `file`.
    package func check(_ signature: [UInt8], digest: JSPatchDigest, of file: Fingerprint) throws(JSPatchError) {
        let signed = try JSPatchBlock.text(recovered(signature), digest: digest)
        let found = digest.text(of: file)
        guard signed.hasSameBytes(as: found) else { throw .otherDigest(signed: signed, found: found) }
    }

    /// Applies the public exponent and returns the whole block with its padding, which libcrypto does not check.
    private func recovered(_ signature: [UInt8]) throws(JSPatchError) -> [UInt8] {
        let size = Int(unsafe EVP_PKEY_get_size(handle.pointer))
        guard signature.count == size else { throw .length(signature.count, expected: size) }
        var (block, length) = ([UInt8](repeating: 0, count: size), size)
        guard let context = unsafe EVP_PKEY_CTX_new(handle.pointer, nil) else {
            preconditionFailure("libcrypto has no memory")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_verify_recover_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1,
            unsafe EVP_PKEY_verify_recover(context, &block, &length, signature, signature.count) == 1, length == size
        else {
            _ = lastOpenSSLError()
            throw .outOfRange
        }
        return block
    }
}
