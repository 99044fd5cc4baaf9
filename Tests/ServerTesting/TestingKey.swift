import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
package import PatchCrypto
package import PatchTrust
package import SystemPackage

/// The key pairs of `Keys/Testing`, by file name.
package enum TestingKey: String {
    case root, targets, production, beta, online, entry, other
    case second = "production-second"

    /// The clone that holds this file.
    package static let repository = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    package var file: FilePath { Self.repository.appending("Keys/Testing/\(rawValue).key") }

    package var key: PrivateKey {
        get throws { try PrivateKey(pem: try DiskFiles().read(file, limit: Limits.keyFile), passphrase: nil) }
    }

    /// As a signer of roles.
    package var signer: TUFKey {
        get throws { TUFKey(rsa: try key.publicKey, scheme: .rsaPSS) }
    }

    package var online: OnlineKeyFile {
        get throws { OnlineKeyFile(bytes: try DiskFiles().read(file, limit: Limits.keyFile), path: file) }
    }
}

package struct OnlineKeyFile {
    package let bytes: [UInt8]
    package let path: FilePath

    package init(bytes: [UInt8], path: FilePath) {
        (self.bytes, self.path) = (bytes, path)
    }
}

extension Envelope {
    /// The same bytes each time, although a PSS signature is another each time it is made.
    package func signed(by keys: [TestingKey]) throws -> Envelope {
        var envelope = self
        for key in keys { envelope.add(try SignaturesMade.shared.signature(of: self, by: key)) }
        return envelope
    }
}

/// Every signature that a test made, by key and content.
private final class SignaturesMade: Sendable {
    private struct Content: Hashable {
        let key: TestingKey
        let digest: SHA256Digest
    }

    static let shared = SignaturesMade()

    private let made = NIOLockedValueBox<[Content: Envelope.Signature]>([:])

    func signature(of envelope: Envelope, by key: TestingKey) throws -> Envelope.Signature {
        let message = envelope.signed.canonicalBytes
        let content = Content(key: key, digest: SHA256Digest(of: message))
        if let known = made.withLockedValue({ $0[content] }) { return known }
        let new = Envelope.Signature(
            keyID: try key.signer.id.hex,
            bytes: try key.key.sign(message, scheme: .rsaPSS)
        )
        return made.withLockedValue { made in
            if let known = made[content] { return known }
            made[content] = new
            return new
        }
    }
}
