package import PatchFormat
import PatchCrypto
package import PatchTrust

/// A key pair of any sort that TUF metadata may list, made from a name: the same on every run.
package struct SimulatedSigner: Sendable {
    package enum Sort: Sendable, CaseIterable {
        case ed25519, p256, rsa
    }

    package let key: TUFKey
    /// Under which it is listed and signs; the digest of the key, unless somebody lies.
    package let id: String
    private let privateKey: PrivateKey
    private let scheme: SignatureScheme

    /// - Parameters:
    ///   - keytype: for P-256, which has two names.
    ///   - members: what else the key object holds, or in place of its own.
    ///   - id: in place of the digest of the key.
    package init(
        _ name: String,
        _ sort: Sort = .ed25519,
        keytype: String? = nil,
        members: [(String, JSON)] = [],
        id: String? = nil
    ) {
        let (privateKey, scheme, type) = Self.make(name, sort)
        let pem = privateKey.publicKey.pem
        var json = JSONObject([
            ("keytype", .text(keytype ?? type)), ("scheme", .text(scheme.rawValue)),
            ("keyval", .fields([("public", .text(sort == .ed25519 ? Self.rawHex(pem) : pem))])),
        ])
        for (name, value) in members { json[name] = value }
        key = TUFKey(.object(json))
        self.id = id ?? key.id.hex
        self.privateKey = privateKey
        self.scheme = scheme
    }

    /// In lowercase hex.
    package func signature(over message: [UInt8]) -> String {
        do throws(KeyError) { return Hex.text(try privateKey.sign(message, scheme: scheme)) } catch {
            preconditionFailure("a simulated key cannot sign: \(error)")
        }
    }

    private static func make(_ name: String, _ sort: Sort) -> (PrivateKey, SignatureScheme, String) {
        let secret = SHA256Digest(of: Array(name.utf8)).hex
        switch sort {
        case .ed25519:
            return (read("302e020100300506032b657004220420\(secret)", "PRIVATE KEY"), .ed25519, "ed25519")
        case .p256:
            let der = "30310201010420\(secret)a00a06082a8648ce3d030107"
            return (read(der, "EC PRIVATE KEY"), .ecdsaP256, "ecdsa")
        case .rsa:
            let all = SimulatedKey.allCases
            let index = Int(SHA256Digest(of: Array(name.utf8)).bytes[0]) % all.count
            return (all[index].key, .rsaPSS, "rsa")
        }
    }

    private static func read(_ der: String, _ label: String) -> PrivateKey {
        let text = Base64.text(Hex.bytes(der) ?? [])
        let lines = ["-----BEGIN \(label)-----", String(text.prefix(64)), String(text.dropFirst(64))]
        let pem = (lines.filter { !$0.isEmpty } + ["-----END \(label)-----\n"]).joined(separator: "\n")
        do throws(KeyError) { return try PrivateKey(pem: Array(pem.utf8), passphrase: nil) } catch {
            preconditionFailure("\(label): \(error)")
        }
    }

    /// The last 32 bytes of the SubjectPublicKeyInfo.
    private static func rawHex(_ pem: String) -> String {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Hex.text(Array((Base64.bytes(lines.joined()) ?? []).suffix(32)))
    }
}
