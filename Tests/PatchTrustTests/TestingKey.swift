import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTrust

/// The clone that holds this file.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The key pairs of `Keys/Testing`, by file name.
enum TestingKey: String, CaseIterable {
    case root, targets, production, beta, online, entry, other, small
    case second = "production-second"

    var file: URL { repository.appending(path: "Keys/Testing/\(rawValue).key") }

    var pem: [UInt8] {
        get throws { Array(try Data(contentsOf: file)) }
    }

    var publicPEM: String {
        get throws {
            String(
                decoding: try Data(contentsOf: file.deletingPathExtension().appendingPathExtension("pub")),
                as: UTF8.self
            )
        }
    }

    var key: PrivateKey {
        get throws { try PrivateKey(pem: try pem, passphrase: nil) }
    }

    /// As a signer of roles.
    var signer: TUFKey {
        get throws { TUFKey(rsa: try key.publicKey, scheme: .rsaPSS) }
    }
}

extension Envelope {
    func signed(by keys: [TestingKey]) throws -> Envelope {
        var envelope = self
        for key in keys { try envelope.sign(with: try key.key, id: try key.signer.id) }
        return envelope
    }
}
