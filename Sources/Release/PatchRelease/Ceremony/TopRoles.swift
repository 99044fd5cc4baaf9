package import PatchFormat
package import PatchTrust

/// Root and targets of one app at one moment: as they were signed, and as they read.
///
/// Parsed and nothing more; who may trust them is for the caller to say.
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

    /// Those of a root of trust, which is verified.
    package init(_ trust: RootOfTrust) {
        (rootEnvelope, targetsEnvelope) = (trust.trustedRoot.envelope, trust.targetsEnvelope)
        (root, targets) = (trust.root, trust.targets)
    }

    /// What a draft says that it was made from.
    package var base: TrustDraft.Base {
        TrustDraft.Base(
            root: TrustDraft.Version(version: root.header.version, sha256: rootEnvelope.identity),
            targets: TrustDraft.Version(version: targets.header.version, sha256: targetsEnvelope.identity)
        )
    }
}
