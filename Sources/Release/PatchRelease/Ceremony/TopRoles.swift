package import PatchFormat
package import PatchTrust

/// Root and targets of one app, both as signed envelopes and as parsed roles.
///
/// The initialiser only parses them; the caller verifies them.
package struct TopRoles: Sendable {
    package let rootEnvelope: Envelope
    package let targetsEnvelope: Envelope
    package let root: RootRole
    package let targets: TargetsRole

    package init(root: Envelope, targets: Envelope) throws(FormatError) {
        rootEnvelope = root
        targetsEnvelope = targets
        self.root = try RootRole(root)
        self.targets = try TargetsRole(targets, name: "targets")
    }

    /// The roles of a verified root of trust.
    package init(_ trust: RootOfTrust) {
        (rootEnvelope, targetsEnvelope) = (trust.trustedRoot.envelope, trust.targetsEnvelope)
        (root, targets) = (trust.root, trust.targets)
    }

    /// The base that a draft made from these roles names.
    package var base: TrustDraft.Base {
        TrustDraft.Base(
            root: TrustDraft.Version(version: root.header.version, sha256: rootEnvelope.identity),
            targets: TrustDraft.Version(version: targets.header.version, sha256: targetsEnvelope.identity)
        )
    }
}
