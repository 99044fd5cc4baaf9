package import PatchFormat
package import PatchStore
import PatchCrypto
package import PatchTrust

/// The display names of keys: the name of their `NAME.pub`, if any, and the beginning of their id.
package struct KeyNames: Sendable {
    private let names: [PublicKey: String]

    package init(_ folder: KeyFolder) throws(SigningError) {
        names = Dictionary(try folder.publicKeys().map { ($0.key, $0.name) }) { first, _ in first }
    }

    /// `root-alice (1a2b3c4d)`, or `1a2b3c4d`.
    package func words(for key: TUFKey) -> String {
        words(for: key, id: "\(KeyID(key.id))")
    }

    /// Includes the complete id, for comparison with the holder of the key.
    package func words(forNew key: TUFKey) -> String {
        words(for: key, id: key.id.hex)
    }

    private func words(for key: TUFKey, id: String) -> String {
        name(of: key).map { "\($0) (\(id))" } ?? id
    }

    package func name(of key: TUFKey) -> String? {
        key.publicKey.flatMap { names[$0] }
    }

    /// The names by all ids that documents use: those of role keys and of entry keys.
    package var byID: [SHA256Digest: String] {
        var found: [SHA256Digest: String] = [:]
        for (key, name) in names { for id in [TUFKey(key).id, EntryKeys.id(of: key)] { found[id] = name } }
        return found
    }
}

extension TrustDifference {
    /// One line.
    ///
    /// Its first character shows the kind of change.
    package func words(_ names: KeyNames) -> String {
        switch self {
        case .version(let role, let from, let to, let expires, let before):
            "~ \(role): version \(to)\(from.map { " after \($0)" } ?? ""), until \(expires)"
                + (before.map { ", was \($0)" } ?? "")
        case .newChannel(let name): "+ \(name): a new channel, for \(name)/* and \(name)/*/*/* alone"
        case .retired(let name):
            "- \(name): retired for good; devices on it install nothing new, and its name cannot be used again"
        case .added(let key, let role): "+ \(role): key \(names.words(forNew: key)) signs"
        case .removed(let key, let role): "- \(role): key \(names.words(for: key)) signs no longer"
        case .threshold(let role, let from, let to, let keys):
            "~ \(role): needs \(to) of \(Words.count(keys, "key"))\(from.map { ", needed \($0)" } ?? "")"
        }
    }
}

extension ReleaseTrust {
    /// The signatures of a release and the keys that may still sign, by the names of the folder's public keys.
    package func signatureWords(
        for channel: ChannelName,
        on role: Envelope,
        files: any FileOperations
    ) throws(SigningError) -> String {
        let quorum = TrustQuorum(.channel(channel), try delegation(to: channel).keys, on: role)
        return quorum.words(try KeyNames(KeyFolder(folder, files: files)))
    }
}

extension TrustQuorum {
    /// `root, by the present root's keys: 1 of 2 signatures (root-alice); may still sign: root-bob, root-carol`.
    package func words(_ names: KeyNames) -> String {
        func list(_ ids: some Sequence<SHA256Digest>) -> String {
            ids.compactMap { keys.keys[$0] }.map { names.words(for: $0) }.joined(separator: ", ")
        }
        let count = "\(rule): \(valid) of \(Words.count(needed, "signature"))"
        return count + (signed.isEmpty ? "" : " by \(list(signed.sorted()))")
            + (isComplete ? "" : "; may still sign: \(list(missing))")
    }
}
