import PatchCrypto
package import PatchFormat

/// A root that is trusted: an anchor that came by another way than the network, or one that followed from it (TUF 5.3).
///
/// Whether it has ended is asked where something is taken under it, see ``CurrentRoot``: an ended one still leads to the
/// next.
package struct TrustedRoot: Sendable {
    package let role: RootRole
    /// As it was signed.
    package let envelope: Envelope
    /// As it was read.
    package let bytes: [UInt8]
    /// Which keys count, in this root and in all that follows from it.
    let admission: KeyAdmission

    package var version: Int { role.header.version }
    package var app: AppID? { role.app }

    /// A root that the caller already trusts: it must be signed by itself.
    ///
    /// - Parameter admission: which keys count, in this root and in all that follows from it.
    package init(
        anchor bytes: [UInt8],
        admitting admission: KeyAdmission = .all,
        observe: CheckObserver? = nil
    ) throws(TrustError) {
        let (envelope, role) = try Self.parsed(bytes)
        try role.keys(of: "root").check(envelope, role: "root", rule: .rootSignature, observe: observe)
        try admission.check(role)
        (self.role, self.envelope, self.bytes, self.admission) = (role, envelope, bytes, admission)
    }

    private init(_ role: RootRole, _ envelope: Envelope, _ bytes: [UInt8], _ admission: KeyAdmission) {
        (self.role, self.envelope, self.bytes, self.admission) = (role, envelope, bytes, admission)
    }

    /// The next root: signed by this one and by itself, one version higher, of the same app (TUF 5.3.4, 5.3.5).
    package func following(_ bytes: [UInt8]) throws(TrustError) -> TrustedRoot {
        let (envelope, next) = try Self.parsed(bytes)
        try role.keys(of: "root").check(envelope, role: "root")
        guard next.header.version == version + 1 else {
            throw .wrongVersion(role: "root", offered: next.header.version, expected: version + 1)
        }
        try next.keys(of: "root").check(envelope, role: "root")
        if let app, next.app != app {
            throw .foreign(document: "root", field: "app", found: next.app?.text ?? "none", expected: app.text)
        }
        try admission.check(next)
        return TrustedRoot(next, envelope, bytes, admission)
    }

    private static func parsed(_ bytes: [UInt8]) throws(TrustError) -> (Envelope, RootRole) {
        do throws(FormatError) {
            let envelope = try Envelope(bytes, role: "root", limit: Limits.root)
            return (envelope, try RootRole(envelope))
        } catch { throw .malformed(error) }
    }

    /// A role that one of the top roles' keys signed for this root's app, read.
    func verified<Role>(
        _ bytes: [UInt8],
        _ name: String,
        limit: Int,
        header: (Role) -> RoleHeader,
        _ read: (Envelope) throws(FormatError) -> Role
    ) throws(TrustError) -> (Envelope, Role) {
        let envelope: Envelope
        let role: Role
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: name, limit: limit)
            role = try read(envelope)
        } catch { throw .malformed(error) }
        try self.role.keys(of: name).check(envelope, role: name)
        try header(role).check(for: app, role: name)
        return (envelope, role)
    }
}
