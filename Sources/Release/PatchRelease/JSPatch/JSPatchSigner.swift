package import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// A key for packages of JSPatch's loader: any key that can sign releases, or an old RSA pair of at least 1,024 bits.
package struct JSPatchSigner: Sendable {
    private enum Source: Sendable {
        case key(SigningKey)
        case old(JSPatchPrivateKey)
    }

    /// The key's name in messages.
    package let file: FilePath
    package let publicKey: JSPatchPublicKey
    private let source: Source

    private init(_ file: FilePath, _ publicKey: JSPatchPublicKey, _ source: Source) {
        self.file = file
        self.publicKey = publicKey
        self.source = source
    }

    package init(_ key: SigningKey) throws(SigningError) {
        do throws(JSPatchError) {
            self.init(key.file, try JSPatchPublicKey(key.publicKey), .key(key))
        } catch { throw .jspatch(key.file, error) }
    }

    /// A PKCS#8 file.
    ///
    /// - Throws: the errors of ``SigningKey``, except that keys of 1,024 to 2,047 bits are accepted.
    package init(
        _ file: FilePath,
        passphrase: String?,
        policy: KeyPolicy,
        files: any FileOperations
    ) throws(SigningError) {
        do throws(SigningError) {
            try self.init(SigningKey(file, passphrase: passphrase, policy: policy, files: files))
        } catch .key(_, .tooSmall(let bits)) {
            guard bits >= JSPatchPublicKey.minimumBits else { throw .jspatch(file, .tooSmall(bits: bits)) }
            let pem = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
            do throws(KeyError) {
                let key = try JSPatchPrivateKey(pem: pem, passphrase: passphrase)
                self.init(file, key.publicKey, .old(key))
            } catch { throw .key(file, error) }
        }
    }

    /// Nil for an old pair, which cannot sign roles or entries.
    package var signingKey: SigningKey? {
        switch source {
        case .key(let key): key
        case .old: nil
        }
    }

    package func sign(_ digest: JSPatchDigest, of fingerprint: Fingerprint) throws(SigningError) -> [UInt8] {
        switch source {
        case .key(let key): return try key.signJSPatch(digest, of: fingerprint)
        case .old(let key):
            do throws(KeyError) { return try key.sign(digest, of: fingerprint) } catch { throw .key(file, error) }
        }
    }
}
