import PatchFormat
import PatchStore
import PatchTrust
import SystemPackage

/// The key pairs of `Keys/Testing`, by file name.
enum TestingKey: String {
    case root, targets, production, beta, online, entry, other
    case second = "production-second"

    /// The clone that holds this file.
    static let repository = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()

    var file: FilePath { Self.repository.appending("Keys/Testing/\(rawValue).key") }

    var key: PrivateKey {
        get throws { try PrivateKey(pem: try DiskFiles().read(file, limit: Limits.keyFile), passphrase: nil) }
    }

    /// As a signer of roles.
    var signer: TUFKey {
        get throws { TUFKey(rsa: try key.publicKey, scheme: .rsaPSS) }
    }

    var online: OnlineKeyFile {
        get throws { OnlineKeyFile(bytes: try DiskFiles().read(file, limit: Limits.keyFile), path: file) }
    }
}

struct OnlineKeyFile {
    let bytes: [UInt8]
    let path: FilePath
}

extension Envelope {
    func signed(by keys: [TestingKey]) throws -> Envelope {
        var envelope = self
        for key in keys { try envelope.sign(with: try key.key, id: try key.signer.id) }
        return envelope
    }
}

/// A name that the test wrote itself.
func named<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}
