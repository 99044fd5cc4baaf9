package import PatchFormat
package import PatchStore
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// The rules for acceptable keys.
package struct KeyPolicy: Sendable {
    /// Whether the pairs of `Keys/Testing` are accepted, for tests and the demo.
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

    /// The key's name in messages: a file, or a token's URI.
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

    /// Reads a PKCS#8 file.
    ///
    /// - Parameter passphrase: The passphrase of an encrypted key; ignored if the key is not encrypted.
    /// - Throws: `.key(file, .needsPassphrase)` if the key is encrypted and there is no passphrase.
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

    /// Reads the description of an external signer.
    ///
    /// - Parameter hidden: Environment variables with secrets of other keys. Its command does not receive them.
    package init(
        signer file: FilePath,
        hiding hidden: [String] = [],
        policy: KeyPolicy,
        files: any FileOperations
    ) throws(SigningError) {
        try self.init(file, .command(try ExternalSigner(file, hiding: hidden, files: files)), policy: policy)
    }

    /// Opens a key on a PKCS#11 token.
    ///
    /// - Parameters:
    ///   - module: The module for a URI that names none.
    ///   - pin: The token counts wrong PINs.
    /// - Throws: `.token(uri, .needsPIN)` if there is no PIN.
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

    /// Whether signing is only a local computation.
    var isQuick: Bool {
        switch source {
        case .key: true
        case .token, .command: false
        }
    }

    /// - Parameter purpose: The purpose that an external signer receives. Local keys ignore it.
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

    /// Signs in JSPatch's own form.
    ///
    /// Only RSA keys can.
    package func signJSPatch(_ digest: JSPatchDigest, of file: Fingerprint) throws(SigningError) -> [UInt8] {
        switch source {
        case .key(let key): try named { () throws(KeyError) in try key.signJSPatch(digest, of: file) }
        case .token(let key): try named { () throws(KeyError) in try key.signJSPatch(digest, of: file) }
        case .command(let signer): try signer.signJSPatch(digest, of: file)
        }
    }

    /// Whether `role` has a valid signature of this key according to `keys`.
    package func hasSigned(_ role: Envelope, for keys: RoleKeys) -> Bool {
        keys.validSigners(on: role).contains { keys.keys[$0]?.publicKey == publicKey }
    }

    private func named(_ work: () throws(KeyError) -> [UInt8]) throws(SigningError) -> [UInt8] {
        do throws(KeyError) { return try work() } catch { throw .key(file, error) }
    }

    /// Adds this key's signature to a role.
    ///
    /// - Parameter keys: The keys that may sign the role.
    /// - Throws: `.notASigner` if they do not contain this key.
    func sign(_ role: inout Envelope, for keys: RoleKeys) throws(SigningError) {
        let (id, scheme) = try listing(in: keys, role: role.role)
        let bytes = try sign(role.signed.canonicalBytes, scheme: scheme, purpose: .role(role.role, keyID: id))
        role.add(Envelope.Signature(keyID: id.hex, bytes: bytes))
    }

    /// The id and scheme under which the role lists this key.
    ///
    /// Nothing is signed.
    ///
    /// - Throws: `.notASigner` if the role does not list it.
    func listing(in keys: RoleKeys, role: String) throws(SigningError) -> (id: SHA256Digest, scheme: SignatureScheme) {
        let known = keys.keys.first { $0.value.publicKey == publicKey }
        guard let (id, tufKey) = known, let scheme = tufKey.scheme else { throw .notASigner(file, role: role) }
        return (id, scheme)
    }
}
