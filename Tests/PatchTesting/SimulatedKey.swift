import NIOConcurrencyHelpers
package import PatchFormat
import PatchStore
package import PatchCrypto
package import PatchTrust
import SystemPackage

/// The key pairs of `Keys/Testing`, by file name.
package enum SimulatedKey: String, CaseIterable, Sendable {
    case root, targets, production, beta, online, entry, other
    case second = "production-second"

    private static let folder = FilePath(#filePath).parent.parent
        .parent
        .at("Keys/Testing")
    private static let all = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.read()) })
    private static let entrySignatures = NIOLockedValueBox<[SHA256Digest: [UInt8]]>([:])

    package var key: PrivateKey {
        guard let key = Self.all[self] else { preconditionFailure("every case was read") }
        return key
    }

    /// As a signer of roles.
    package var signer: TUFKey { TUFKey(rsa: key.publicKey, scheme: .rsaPSS) }

    package var entryKeyID: SHA256Digest { EntryKeys.id(of: key.publicKey) }

    /// An entry signature.
    ///
    /// The scheme is deterministic, so each statement is signed once a run.
    package func signature(over statement: [UInt8]) -> [UInt8] {
        let name = SHA256Digest(of: Array(rawValue.utf8) + statement)
        if let known = Self.entrySignatures.withLockedValue({ $0[name] }) { return known }
        do throws(KeyError) {
            let signature = try key.sign(statement, scheme: .rsaPKCS1v15)
            Self.entrySignatures.withLockedValue { $0[name] = signature }
            return signature
        } catch { preconditionFailure("\(rawValue) cannot sign: \(error)") }
    }

    private func read() -> PrivateKey {
        do {
            let pem = try DiskFiles().read(Self.folder.at("\(rawValue).key"), limit: Limits.keyFile)
            return try PrivateKey(pem: pem, passphrase: nil)
        } catch { preconditionFailure("\(Self.folder)/\(rawValue).key: \(error)") }
    }
}
