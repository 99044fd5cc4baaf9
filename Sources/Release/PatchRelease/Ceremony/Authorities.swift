package import PatchFormat
package import PatchCrypto
package import PatchTrust

/// The keys and thresholds of all roles: the part of root and targets that ceremonies change.
///
/// Delegations other than channels and the dial are ignored here. Changed documents keep them.
package struct Authorities: Equatable, Sendable {
    package var root: RoleKeys
    package var targets: RoleKeys
    package var online: RoleKeys
    package var channels: [ChannelName: RoleKeys]
    /// Retired channels.
    ///
    /// Their names cannot be used again.
    package var retired: Set<ChannelName> = []

    /// - Throws: `onlineKey` unless snapshot, timestamp and dial have the same single key.
    package init(_ roles: TopRoles) throws(CeremonyError) {
        root = roles.root.keys(of: "root")
        targets = roles.root.keys(of: "targets")
        online = roles.root.keys(of: "snapshot")
        guard online.threshold == 1, online.keys.count == 1, roles.root.keys(of: "timestamp") == online,
            roles.targets.delegation(to: "dial")?.keys == online
        else { throw .onlineKey }
        channels = [:]
        for delegation in roles.targets.delegations {
            guard case .channel(let name) = TrustRole(delegation.name) else { continue }
            channels[name] = delegation.keys
        }
        retired = Set(roles.targets.retired)
    }

    /// The roles in display order.
    package var roles: [TrustRole] {
        [.root, .targets] + channels.keys.sorted().map { .channel($0) } + [.online]
    }

    /// The keys of a role; nil for a channel without a delegation.
    package subscript(role: TrustRole) -> RoleKeys? {
        get {
            switch role {
            case .root: root
            case .targets: targets
            case .online: online
            case .channel(let name): channels[name]
            }
        }
        set {
            switch role {
            case .root: root = newValue ?? root
            case .targets: targets = newValue ?? targets
            case .online: online = newValue ?? online
            case .channel(let name): channels[name] = newValue
            }
        }
    }

    /// The roles that list a key.
    package func roles(of key: PublicKey) -> [TrustRole] {
        roles.filter { role in self[role]?.keys.values.contains { $0.publicKey == key } ?? false }
    }
}
