import PatchCrypto
package import PatchFormat

/// Root and top targets role of one app, verified: who may sign what.
///
/// Neither who may be a signer nor expiry is judged: a release engineer's keys and a server's duties differ, and each adds
/// its own policy.
package struct RootOfTrust: Sendable {
    package let trustedRoot: TrustedRoot
    package let app: AppID
    package let targets: TargetsRole
    package let targetsEnvelope: Envelope
    /// As they were read.
    package let targetsBytes: [UInt8]

    package var root: RootRole { trustedRoot.role }
    package var rootBytes: [UInt8] { trustedRoot.bytes }

    /// - Throws: where the root names no app, and where its keys did not sign `targets`.
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
