package import PatchCompression
package import PatchCrypto

/// Why a package of JSPatch's platform is not made or not taken: each case is one broken rule.
package enum PlatformError: Error, Equatable, Sendable {
    case archive(TarError)
    /// A third file.
    case unknown(String)
    case noScripts
    case noKey
    case tooLarge(limit: Int)
    case signature(JSPatchError)
    /// The scripts do not open with the app's key.
    case encryption(AESError)
    case compression(CompressionError)
    case scriptArchive(TarError)
    /// What comes out of it is not what a client runs.
    case scripts(LoaderError)

    /// The domain of its codes, as the platform's binary has it; its header says `jspatch.com`.
    package static let domain = "com.jspatch"

    /// In that domain.
    package enum Code: Int, CaseIterable, Sendable {
        case untar = 5001
        case untarScript = 5002
        case otherMD5 = 5003
        case noScripts = 5004
        case noKey = 5005
        case decryptMD5 = 5006
        case network = 5007

        /// From the first to the last, without a gap.
        static let range = untar.rawValue...network.rawValue

        /// As the platform names it.
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
        // Signed, but something else than what was asked for.
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
        case .signature(let error): "the package's signature does not hold: \(error)"
        case .encryption(let error): "the package's scripts: what is encrypted \(error)"
        case .compression(let error): "the package's scripts: \(error)"
        case .scriptArchive(let error): "the package's archive of scripts \(error)"
        case .scripts(let error): error.description
        }
    }
}
