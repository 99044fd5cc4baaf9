package import PatchFormat
package import PatchStore
package import PatchCrypto
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

/// A private key that can sign: in a file, on a token, or behind a command.
package struct SigningKey: Sendable {
    private enum Source: Sendable {
        case key(PrivateKey)
        case token(TokenKey)
        case command(ExternalSigner)
    }

    /// How messages name it: a file, or a token's URI.
    package let file: FilePath
    package let publicKey: PublicKey
    private let source: Source

    private init(_ file: FilePath, _ source: Source, policy: KeyPolicy) throws(SigningError) {
        publicKey =
            switch source {
            case .key(let key): key.publicKey
            case .token(let key): key.publicKey
            case .command(let signer): signer.publicKey
            }
        try policy.check(publicKey, named: file.string)
        self.file = file
        self.source = source
    }

    /// A PKCS#8 file.
    ///
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
        try self.init(file, .key(key), policy: policy)
    }

    /// An external signer, from its description.
    ///
    /// - Parameter hidden: environment variables with secrets of other keys, which its command is not given.
    package init(
        signer file: FilePath,
        hiding hidden: [String] = [],
        policy: KeyPolicy,
        files: any FileOperations
    ) throws(SigningError) {
        try self.init(file, .command(try ExternalSigner(file, hiding: hidden, files: files)), policy: policy)
    }

    /// A key on a PKCS#11 token.
    ///
    /// - Parameters:
    ///   - module: for a URI that names none.
    ///   - pin: the token counts wrong ones.
    /// - Throws: `.token(uri, .needsPIN)` when there is none.
    package init(token uri: TokenURI, module: String?, pin: String?, policy: KeyPolicy) throws(SigningError) {
        let name = KeyReference.token(uri).name
        let key: TokenKey
        do throws(TokenError) {
            guard let module = uri.modulePath ?? module else { throw .unnamedModule }
            guard let pin else { throw .needsPIN }
            key = try TokenKey(uri, module: module, pin: pin)
        } catch { throw .token(name, error) }
        try self.init(name, .token(key), policy: policy)
    }

    /// Whether a signature takes no more than a computation here.
    var isQuick: Bool {
        switch source {
        case .key: true
        case .token, .command: false
        }
    }

    /// - Parameter purpose: what an external signer is told; it says nothing to a key that is here.
    package func sign(
        _ message: [UInt8],
        scheme: SignatureScheme,
        purpose: SigningPurpose = .entry
    ) throws(SigningError) -> [UInt8] {
        switch source {
        case .key(let key): try named { () throws(KeyError) in try key.sign(message, scheme: scheme) }
        case .token(let key): try named { () throws(KeyError) in try key.sign(message, scheme: scheme) }
        case .command(let signer): try signer.sign(message, scheme: scheme, purpose: purpose)
        }
    }

    /// JSPatch's own form; RSA keys only.
    package func signJSPatch(_ digest: JSPatchDigest, of file: Fingerprint) throws(SigningError) -> [UInt8] {
        switch source {
        case .key(let key): try named { () throws(KeyError) in try key.signJSPatch(digest, of: file) }
        case .token(let key): try named { () throws(KeyError) in try key.signJSPatch(digest, of: file) }
        case .command(let signer): try signer.signJSPatch(digest, of: file)
        }
    }

    /// Whether this key has signed `role` as it is, for `keys`.
    package func hasSigned(_ role: Envelope, for keys: RoleKeys) -> Bool {
        keys.validSigners(on: role).contains { keys.keys[$0]?.publicKey == publicKey }
    }

    private func named(_ work: () throws(KeyError) -> [UInt8]) throws(SigningError) -> [UInt8] {
        do throws(KeyError) { return try work() } catch { throw .key(file, error) }
    }

    /// Adds this key's signature to a role.
    ///
    /// - Parameter keys: who may sign for the role.
    /// - Throws: `.notASigner` when they do not name this key.
    func sign(_ role: inout Envelope, for keys: RoleKeys) throws(SigningError) {
        let (id, scheme) = try listing(in: keys, role: role.role)
        let bytes = try sign(role.signed.canonicalBytes, scheme: scheme, purpose: .role(role.role, keyID: id))
        role.add(Envelope.Signature(keyID: id.hex, bytes: bytes))
    }

    /// As what the role knows this key; nothing is signed.
    ///
    /// - Throws: `.notASigner` when it does not.
    func listing(in keys: RoleKeys, role: String) throws(SigningError) -> (id: SHA256Digest, scheme: SignatureScheme) {
        let known = keys.keys.first { $0.value.publicKey == publicKey }
        guard let (id, tufKey) = known, let scheme = tufKey.scheme else { throw .notASigner(file, role: role) }
        return (id, scheme)
    }
}
