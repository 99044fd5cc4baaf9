import PatchFormat
package import PatchStore
package import PatchCrypto
import PatchTrust
package import SystemPackage

/// The location of a private key, as a command's argument.
package enum KeyReference: Sendable {
    /// A PKCS#8 file.
    case file(FilePath)
    /// The description of an external signer: `NAME.signer`.
    case signer(FilePath)
    /// A key on a PKCS#11 token.
    case token(TokenURI)

    /// - Parameter argument: The argument as given. `resolve` resolves a path.
    package init(_ argument: String, resolve: (String) -> FilePath) throws(SigningError) {
        guard argument.hasPrefix(TokenURI.scheme) else {
            self.init(resolve(argument))
            return
        }
        do throws(TokenError) { self = .token(try TokenURI(argument)) } catch {
            throw .token(FilePath(TokenURI.withoutSecrets(argument)), error)
        }
    }

    package init(_ file: FilePath) {
        self = file.extension == Self.signerExtension ? .signer(file) : .file(file)
    }

    package static let signerExtension = "signer"

    /// The key's name in messages.
    package var name: FilePath {
        switch self {
        case .file(let path), .signer(let path): path
        case .token(let uri): FilePath(uri.path)
        }
    }
}

extension KeyReference {
    /// The key's public half if it is available without a secret; nil for a PKCS#8 file.
    ///
    /// - Parameter module: The PKCS#11 module for a token whose URI names none.
    package func publicKey(module: String?, files: any FileOperations) throws(SigningError) -> PublicKey? {
        switch self {
        case .file(let path):
            guard path.extension == "pub" else { return nil }
            return try PublicKey(file: path, files: files)
        case .signer(let path): return try ExternalSigner(path, files: files).publicKey
        case .token(let uri):
            do throws(TokenError) {
                guard let module = uri.modulePath ?? module else { throw .unnamedModule }
                return try TokenKey.publicKey(uri, module: module)
            } catch { throw .token(name, error) }
        }
    }
}

extension PublicKey {
    /// Reads a `.pub` file.
    init(file: FilePath, files: any FileOperations) throws(SigningError) {
        let pem = try onDisk { () throws(FileError) in try files.read(file, limit: Limits.keyFile) }
        do throws(KeyError) {
            guard let text = String(validating: pem, as: UTF8.self) else { throw .unreadable }
            self = try PublicKey(pem: text)
        } catch { throw .key(file, error) }
    }
}
