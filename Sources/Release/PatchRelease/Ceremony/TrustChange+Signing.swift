package import PatchCrypto
import PatchTrust

extension TrustChange {
    /// The keys that may sign the draft's root: those of the present and of the next root.
    private var rootKeys: RoleKeys {
        let (old, new) = (base?.root.keys(of: "root").keys ?? [:], after.root.keys(of: "root").keys)
        return RoleKeys(threshold: 1, keys: new.merging(old) { new, _ in new })
    }

    /// The keys that may sign the draft's targets: those of the present and of the next root.
    private var targetsKeys: RoleKeys {
        let (old, new) = (base?.root.keys(of: "targets").keys ?? [:], after.root.keys(of: "targets").keys)
        return RoleKeys(threshold: 1, keys: new.merging(old) { new, _ in new })
    }

    /// The roles of the draft that a key may sign.
    package func rolesToSign(with key: PublicKey) -> [String] {
        func lists(_ keys: RoleKeys) -> Bool { keys.keys.values.contains { $0.publicKey == key } }
        return (draft.root != nil && lists(rootKeys) ? ["root"] : [])
            + (draft.targets != nil && lists(targetsKeys) ? ["targets"] : [])
    }

    /// The draft with the signatures of one more key, on each role that the key may sign.
    ///
    /// - Throws: `.notASigner` if the key may sign neither role.
    package func signed(with signer: SigningKey) throws(SigningError) -> TrustDraft {
        let roles = rolesToSign(with: signer.publicKey)
        guard !roles.isEmpty else {
            throw .notASigner(signer.file, role: draft.root == nil ? "targets" : "root")
        }
        var signed = draft
        if roles.contains("root"), var envelope = signed.root {
            try signer.sign(&envelope, for: rootKeys)
            signed.root = envelope
        }
        if roles.contains("targets"), var envelope = signed.targets {
            try signer.sign(&envelope, for: targetsKeys)
            signed.targets = envelope
        }
        return signed
    }

    /// The draft with the valid signatures of another draft with the same content.
    ///
    /// Invalid signatures are dropped.
    package func merged(with other: TrustDraft) throws(CeremonyError) -> TrustDraft {
        guard draft.hasContent(of: other) else { throw .otherContent }
        var merged = draft
        merged.root = Self.merge(other.root, into: draft.root, by: rootKeys)
        merged.targets = Self.merge(other.targets, into: draft.targets, by: targetsKeys)
        return merged
    }

    private static func merge(_ other: Envelope?, into envelope: Envelope?, by keys: RoleKeys) -> Envelope? {
        guard var envelope, let other else { return envelope }
        for signature in other.signatures {
            var alone = Envelope(role: envelope.role, signing: envelope.signed)
            alone.add(signature)
            if keys.validSignatures(on: alone) == 1 { envelope.add(signature) }
        }
        return envelope
    }
}
