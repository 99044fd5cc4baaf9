package import PatchFormat
package import PatchTrust

/// The signatures on a draft or a release that one rule requires, and those present.
package struct TrustQuorum: Equatable, Sendable {
    package enum Rule: Equatable, Sendable, CustomStringConvertible {
        /// Signatures of the previous root's keys (TUF 5.3.4).
        case presentRoot
        /// Signatures of the next root's own keys (TUF 5.3.5).
        case nextRoot
        /// Both rules at once, if the keys are the same.
        case root
        /// Signatures on a channel's role by its holders' keys.
        case channel(ChannelName)
        /// Signatures of the next root's targets keys.
        case targets
        /// Signatures of the present root's targets keys. With them, a reader of either root accepts the targets during the
        /// change.
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
    /// The ids of the keys with a valid signature.
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

    /// The ids of the keys that have not signed.
    package var missing: [SHA256Digest] {
        keys.keys.keys.filter { !signed.contains($0) }.sorted()
    }
}

extension [TrustQuorum] {
    package var lacks: [CeremonyError.Lack] {
        filter { !$0.isComplete }.map { .init(rule: $0.rule, valid: $0.valid, needed: $0.needed) }
    }
}
