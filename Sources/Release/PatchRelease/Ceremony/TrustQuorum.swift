package import PatchFormat
package import PatchTrust

/// One of the rules by which a draft or a release must be signed, and how far it has come.
package struct TrustQuorum: Equatable, Sendable {
    package enum Rule: Equatable, Sendable, CustomStringConvertible {
        /// By the keys that the root before lists (TUF 5.3.4).
        case presentRoot
        /// By the keys that the next root lists itself (TUF 5.3.5).
        case nextRoot
        /// Both at once, where they are the same.
        case root
        /// A channel's role, by its holders' keys.
        case channel(ChannelName)
        /// By the targets keys of the root that will be current.
        case targets
        /// By those of the present root too, so that a reader of either root takes them while both are there.
        case presentTargets

        package var description: String {
            switch self {
            case .presentRoot: "root, by the present root's keys"
            case .nextRoot: "root, by the next root's keys"
            case .root: "root"
            case .channel(let name): name.text
            case .targets: "targets"
            case .presentTargets: "targets, by the present root's keys"
            }
        }
    }

    package let rule: Rule
    package let keys: RoleKeys
    /// Ids of the keys whose signatures hold.
    package let signed: Set<SHA256Digest>
    package let valid: Int

    init(_ rule: Rule, _ keys: RoleKeys, on envelope: Envelope) {
        self.rule = rule
        self.keys = keys
        valid = keys.validSignatures(on: envelope)
        signed = Set(
            keys.keys.filter { id, key in
                RoleKeys(threshold: 1, keys: [id: key]).validSignatures(on: envelope) == 1
            }.keys
        )
    }

    package var needed: Int { keys.threshold }
    package var isComplete: Bool { valid >= needed }

    /// Ids of the keys that have not signed.
    package var missing: [SHA256Digest] {
        keys.keys.keys.filter { !signed.contains($0) }.sorted()
    }
}

extension [TrustQuorum] {
    package var lacks: [CeremonyError.Lack] {
        filter { !$0.isComplete }.map { .init(rule: $0.rule, valid: $0.valid, needed: $0.needed) }
    }
}
