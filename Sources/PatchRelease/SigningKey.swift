import PatchFormat
package import PatchStore
package import PatchTrust
package import SystemPackage

/// Which keys are taken at all.
package struct KeyPolicy: Sendable {
    /// Whether the pairs of `Keys/Testing` may be used: in tests and the demo.
    package let allowsTestingKeys: Bool

    package init(allowsTestingKeys: Bool) {
        self.allowsTestingKeys = allowsTestingKeys
    }

    func check(_ key: PublicKey, named name: String) throws(SigningError) {
        guard allowsTestingKeys || !TestingKeys.contains(key) else { throw .testingKey(name) }
    }
}

/// A private key that was read from a file.
package struct SigningKey: Sendable {
    package let file: FilePath
    package let key: PrivateKey

    /// - Parameter passphrase: of an encrypted key; ignored for one that is not.
    /// - Throws: `.key(file, .needsPassphrase)` when it is encrypted and there is none.
    package init(
        _ file: FilePath,
        passphrase: String?,
        policy: KeyPolicy,
        files: any FileOperations
    ) throws(SigningError) {
        let pem = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
        let key: PrivateKey
        do throws(KeyError) {
            key = try PrivateKey(pem: pem, passphrase: passphrase)
        } catch { throw .key(file, error) }
        try policy.check(key.publicKey, named: file.string)
        self.file = file
        self.key = key
    }

    package var publicKey: PublicKey { key.publicKey }

    package func sign(_ message: [UInt8], scheme: SignatureScheme) throws(SigningError) -> [UInt8] {
        do throws(KeyError) {
            return try key.sign(message, scheme: scheme)
        } catch { throw .key(file, error) }
    }

    /// Adds this key's signature to a role.
    ///
    /// - Parameter keys: who may sign for the role.
    /// - Throws: `.notASigner` when they do not name this key.
    func sign(_ role: inout Envelope, for keys: RoleKeys) throws(SigningError) {
        let known = keys.keys.first { $0.value.publicKey == publicKey }
        guard let (id, tufKey) = known, let scheme = tufKey.scheme else {
            throw .notASigner(file, role: role.role)
        }
        role.add(Envelope.Signature(keyID: id.hex, bytes: try sign(role.signed.canonicalBytes, scheme: scheme)))
    }
}
