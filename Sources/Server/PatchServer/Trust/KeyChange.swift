import PatchCrypto
import PatchTrust

/// What readers forget when they follow from one root to another (TUF 5.3.11).
struct KeyChange: Equatable, Sendable {
    /// No key that could sign the old snapshot can sign the new one: a role may leave it.
    let restartsSnapshot: Bool
    /// The same of snapshot and timestamp: every version that they vouch for may be a lower one.
    let restartsVersions: Bool
    /// A key that may have signed the old snapshot is gone: readers who cannot verify theirs any more forget which version
    /// of each role it named, also where another key stays.
    let mayForgetRoles: Bool

    init(from old: RootRole, to new: RootRole) {
        restartsSnapshot = Self.isRotated("snapshot", old, new)
        mayForgetRoles = !old.keys(of: "snapshot").material.isSubset(of: new.keys(of: "snapshot").material)
        restartsVersions = restartsSnapshot && Self.isRotated("timestamp", old, new)
    }

    private static func isRotated(_ role: String, _ old: RootRole, _ new: RootRole) -> Bool {
        old.keys(of: role).material.isDisjoint(with: new.keys(of: role).material)
    }
}

extension RoleKeys {
    fileprivate var material: Set<PublicKey> { Set(keys.values.compactMap(\.publicKey)) }
}
