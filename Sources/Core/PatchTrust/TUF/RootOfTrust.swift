import PatchCrypto
package import PatchFormat

/// The verified root and top targets role of one app, which define the keys of all roles.
///
/// Expiry and the choice of signers are not checked: the policies of a release engineer and of a server differ, and each adds its
/// own.
package struct RootOfTrust: Sendable {
    package let trustedRoot: TrustedRoot
    package let app: AppID
    package let targets: TargetsRole
    package let targetsEnvelope: Envelope
    /// The bytes of the targets role as they were read.
    package let targetsBytes: [UInt8]

    package var root: RootRole { trustedRoot.role }
    package var rootBytes: [UInt8] { trustedRoot.bytes }

    /// - Throws: if the root names no app, or if its keys did not sign `targets`.
    package init(
        _ root: TrustedRoot,
        targets bytes: [UInt8],
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        guard let app = root.app else {
            throw .malformed(FormatError("root", field: "x-patchline-app", rule: "is missing"))
        }
        do throws(FormatError) {
            targetsEnvelope = try Envelope(bytes, role: "targets", limit: Limits.targetsRole)
            targets = try TargetsRole(targetsEnvelope, name: "targets")
        } catch { throw .malformed(error) }
        let keys = root.role.keys(of: "targets")
        try keys.check(targetsEnvelope, role: "targets", rule: .roleSignature, observe: observe)
        try targets.header.check(for: app, role: "targets")
        (trustedRoot, self.app, targetsBytes) = (root, app, bytes)
    }
}
