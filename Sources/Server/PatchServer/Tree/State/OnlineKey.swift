package import PatchCrypto
package import PatchFormat
package import PatchTrust
package import SystemPackage

/// The only private key of a server.
///
/// It signs only snapshot, timestamp and dial.
package struct OnlineKey: Sendable {
    private static let begin = "-----BEGIN "
    private static let end = "PRIVATE KEY-----"

    package let key: PrivateKey
    /// The PEM block alone, as it was read: still encrypted if the file was.
    package let pem: [UInt8]
    package let isEncrypted: Bool

    package var publicKey: PublicKey { key.publicKey }

    /// Reads a file with exactly one private key; comments around it are allowed.
    package init(_ file: [UInt8], passphrase: String?, from path: FilePath) throws(ServerError) {
        guard file.count <= Limits.keyFile, let text = String(validating: file, as: UTF8.self),
            let block = Self.onlyBlock(of: text)
        else { throw .key(path, .unreadable) }
        pem = Array(block.utf8)
        isEncrypted = Self.isEncrypted(file)
        do throws(KeyError) { key = try PrivateKey(pem: pem, passphrase: passphrase) } catch { throw .key(path, error) }
    }

    /// Whether a passphrase is needed to read this file.
    package static func isEncrypted(_ file: [UInt8]) -> Bool {
        PrivateKey.isEncrypted(String(decoding: file, as: UTF8.self))
    }

    /// The lines from BEGIN to END; nil unless there is exactly one private key.
    private static func onlyBlock(of text: String) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasSuffix("\r") ? $0.dropLast() : $0
        }
        let starts = lines.indices.filter { lines[$0].hasPrefix(begin) && lines[$0].hasSuffix(end) }
        guard let start = starts.first, starts.count == 1,
            let last = lines[start...].firstIndex(where: { $0.hasPrefix("-----END ") })
        else { return nil }
        return lines[start...last].joined(separator: "\n") + "\n"
    }

    /// Signs a role whose keys list this one.
    package func sign(_ envelope: Envelope, for keys: RoleKeys) throws(ServerError) -> Envelope {
        guard let entry = keys.entry(of: publicKey), let scheme = entry.key.scheme else {
            throw .notOnlineKey(role: envelope.role, belongsTo: nil)
        }
        var signed = envelope
        do throws(KeyError) {
            try signed.sign(with: key, id: entry.id, scheme: scheme)
        } catch { throw .setup(document: envelope.role, rule: Self.rule(error)) }
        return signed
    }

    package static func rule(_ error: KeyError) -> String { "cannot be signed: the online key \(error)" }
}

extension RoleKeys {
    /// The role's entry for a key, regardless of its PEM spelling.
    package func entry(of key: PublicKey) -> (id: SHA256Digest, key: TUFKey)? {
        keys.first { $0.value.publicKey == key }.map { ($0.key, $0.value) }
    }
}

extension OnlineKey {
    /// Checks that this key alone signs snapshot, timestamp and dial, and that no other role lists it.
    ///
    /// A release key on a server would let an intruder approve releases.
    package func check(root: RootRole, targets: TargetsRole) throws(ServerError) {
        var offline = [("root", root.keys(of: "root")), ("targets", root.keys(of: "targets"))]
        offline += targets.delegations.filter { $0.name != "dial" }.map { ($0.name, $0.keys) }
        let owner = offline.first { $0.1.entry(of: publicKey) != nil }?.0
        guard let dial = targets.delegation(to: "dial") else {
            throw .setup(document: "targets.json", rule: "does not delegate the dial")
        }
        let online = [
            ("timestamp", root.keys(of: "timestamp")), ("snapshot", root.keys(of: "snapshot")), ("dial", dial.keys),
        ]
        for (role, keys) in online {
            guard owner == nil, keys.entry(of: publicKey) != nil else {
                throw .notOnlineKey(role: role, belongsTo: owner)
            }
            guard keys.threshold == 1 else {
                throw .setup(document: role, rule: Self.rule(threshold: keys.threshold))
            }
        }
    }

    package static func rule(threshold: Int) -> String { "requires \(threshold) signatures; a server makes one" }
}
