package import PatchCompression
package import PatchCrypto

/// Reasons why a package of JSPatch's platform cannot be made or is rejected.
///
/// Each case is one broken rule.
package enum PlatformError: Error, Equatable, Sendable {
    case archive(TarError)
    /// The package contains a third file.
    case unknown(String)
    case noScripts
    case noKey
    case tooLarge(limit: Int)
    case signature(JSPatchError)
    /// The scripts cannot be decrypted with the app's key.
    case encryption(AESError)
    case compression(CompressionError)
    case scriptArchive(TarError)
    /// The decrypted scripts cannot be run by a client.
    case scripts(LoaderError)

    /// The error domain in the platform's binary.
    ///
    /// Its header has `jspatch.com` instead.
    package static let domain = "com.jspatch"

    /// Error codes in ``domain``.
    package enum Code: Int, CaseIterable, Sendable {
        case untar = 5001
        case untarScript = 5002
        case otherMD5 = 5003
        case noScripts = 5004
        case noKey = 5005
        case decryptMD5 = 5006
        case network = 5007

        /// The range of the codes, which has no gaps.
        static let range = untar.rawValue...network.rawValue

        /// The platform's name of the code.
        package var message: String {
            switch self {
            case .untar: "untar"
            case .untarScript: "untar script"
            case .otherMD5: "MD5NotMatch"
            case .noScripts: "script file missing"
            case .noKey: "key file missing"
            case .decryptMD5: "decrypt md5"
            case .network: "network"
            }
        }
    }

    package var code: Code {
        switch self {
        case .archive, .unknown, .tooLarge: .untar
        case .noScripts: .noScripts
        case .noKey: .noKey
        // The signature is valid, but the package is not the requested one.
        case .signature(.otherDigest), .scripts(.moved), .scripts(.unnamed): .otherMD5
        case .signature: .decryptMD5
        case .encryption, .compression, .scriptArchive, .scripts: .untarScript
        }
    }
}

extension PlatformError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .archive(let error): "the package \(error)"
        case .unknown(let name): "the package has a file \(name) beside scripts and key"
        case .noScripts: "the package has no scripts"
        case .noKey: "the package has no key"
        case .tooLarge(let limit): "the package is over \(limit) bytes"
        case .signature(let error): "the package's signature is not valid: \(error)"
        case .encryption(let error): "the package's scripts: the encrypted data \(error)"
        case .compression(let error): "the package's scripts: \(error)"
        case .scriptArchive(let error): "the package's archive of scripts \(error)"
        case .scripts(let error): error.description
        }
    }
}
