package import PatchFormat

/// The signature that JSPatch's loader verifies: the bytes of `openssl pkeyutl -sign` over a digest in hex.
///
/// It names no app, channel or version, so a key that makes it has no other use.
package enum JSPatchSignature {
    /// The scheme in `x-patchline-entry-keys`, and in the request to an external signer.
    package static let scheme = "rsa-pkcs1v15-bare"
    package static let usage = "jspatch"

    /// The signed message.
    package static func message(_ digest: JSPatchDigest, of file: Fingerprint) -> [UInt8] {
        Array(digest.text(of: file).utf8)
    }

    /// SHA-256 of the canonical JSON of {keytype, keyval, scheme}, like an entry key's id.
    package static func keyID(of key: PublicKey) -> SHA256Digest {
        SHA256Digest(of: keyObject(key).canonicalBytes)
    }

    package static func keyObject(_ key: PublicKey) -> JSON {
        .fields([
            ("keytype", .text("rsa")), ("scheme", .text(scheme)),
            ("keyval", .fields([("public", .text(key.pem))])),
        ])
    }
}

extension PrivateKey {
    /// Signs with RSA of at least 2,048 bits, the minimum of every ``PrivateKey``.
    package func signJSPatch(_ digest: JSPatchDigest, of file: Fingerprint) throws(KeyError) -> [UInt8] {
        try signBare(JSPatchSignature.message(digest, of: file))
    }
}

extension TokenKey {
    package func signJSPatch(_ digest: JSPatchDigest, of file: Fingerprint) throws(KeyError) -> [UInt8] {
        try signBare(JSPatchSignature.message(digest, of: file))
    }
}
