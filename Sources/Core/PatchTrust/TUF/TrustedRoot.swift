import PatchCrypto
package import PatchFormat

/// A trusted root: an anchor that was obtained without the network, or a root that follows from it (TUF 5.3).
///
/// Its expiry is checked when other metadata is verified under it, see ``CurrentRoot``. An expired root still leads to the next.
package struct TrustedRoot: Sendable {
    package let role: RootRole
    /// The root with its signatures.
    package let envelope: Envelope
    /// The bytes as they were read.
    package let bytes: [UInt8]
    /// The keys that count, in this root and in all that follow from it.
    let admission: KeyAdmission

    package var version: Int { role.header.version }
    package var app: AppID? { role.app }

    /// Creates a root that the caller already trusts.
    ///
    /// It must be signed with its own keys.
    ///
    /// - Parameter admission: the keys that count, in this root and in all that follow from it.
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

    /// The next root: signed with the keys of this one and with its own, one version higher, of the same app (TUF 5.3.4, 5.3.5).
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

    /// Parses a role of this root's app and verifies it with the keys of one of the top roles.
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
