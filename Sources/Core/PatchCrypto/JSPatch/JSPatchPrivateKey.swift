package import PatchFormat

/// A private key for JSPatch signatures only: RSA of 1,024 bits or more.
///
/// Apps in the field contain the public half of such a key and accept only its signatures. It is a different type than
/// ``PrivateKey``, so that it cannot sign roles or entries. New keys of this type cannot be made.
package struct JSPatchPrivateKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    package let publicKey: JSPatchPublicKey

    package var description: String { "‹private key›" }

    /// Reads the key like ``PrivateKey/init(pem:passphrase:)``.
    ///
    /// - Throws: `tooSmall` also below 1,024 bits, `unfit` for a key that is not RSA.
    package init(pem: [UInt8], passphrase: String?) throws(KeyError) {
        handle = try KeyHandle(privatePEM: pem, passphrase: passphrase)
        guard let kind = handle.kind else { throw .unsupported }
        try kind.checkRSA()
        do throws(JSPatchError) { publicKey = try JSPatchPublicKey(handle) } catch .tooSmall(let bits) {
            throw .tooSmall(bits: bits)
        } catch { throw .longExponent }
    }

    package func sign(_ digest: JSPatchDigest, of file: Fingerprint) throws(KeyError) -> [UInt8] {
        try handle.signBare(JSPatchSignature.message(digest, of: file))
    }
}
