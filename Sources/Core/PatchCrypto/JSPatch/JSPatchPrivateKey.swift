package import PatchFormat

/// A private key of JSPatch's age: RSA of 1,024 bits or more, for this one signature.
///
/// Apps in the field have the public half of such a key built in, and take what it signs and nothing else. It is no
/// ``PrivateKey``: no role and no entry can be signed with it, and none is made here.
package struct JSPatchPrivateKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    package let publicKey: JSPatchPublicKey

    package var description: String { "‹private key›" }

    /// As ``PrivateKey/init(pem:passphrase:)`` reads it.
    ///
    /// - Throws: `tooSmall` also below 1,024 bits, `unfit` for what is not RSA.
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
