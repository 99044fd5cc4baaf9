import PatchCrypto
package import PatchFormat

/// A repository of which everything up to the top targets role is trusted, and the delegated roles that were asked for.
///
/// Pure: it is made by a ``MetadataWalk``, or rule by rule from a ``TrustedSnapshot``.
package struct TrustedRepository: Sendable {
    private let current: TrustedSnapshot
    private let top: VerifiedTargets
    /// By name, without the top one.
    private var delegated: [ExactString: VerifiedTargets] = [:]
    /// Which delegators, as they are now, have verified the bytes that each of them has now.
    private var delegators: [ExactString: Set<ExactString>] = [:]

    package var root: TrustedRoot { current.root }
    package var timestamp: TrustedTimestamp { current.timestamp }
    package var snapshot: SnapshotRole { current.role }
    /// The top targets role.
    package var targets: TargetsRole { top.role }

    /// With the top targets role, by the root's keys (TUF 5.6).
    ///
    /// - Parameter floor: see ``TrustedSnapshot/floor(ofTargets:)``.
    package init(_ snapshot: TrustedSnapshot, targets bytes: [UInt8], floor: Int = 0) throws(TrustError) {
        current = snapshot
        let keys = snapshot.root.role.keys(of: "targets")
        top = try snapshot.targets(bytes, named: "targets", keys: keys, floor: floor)
    }

    /// Takes a delegated role by its delegator's keys (TUF 5.6.7), in place of other bytes that it had.
    ///
    /// Where the snapshot lists no hash, two delegators' keys may have signed different bytes of one version.
    package mutating func take(_ bytes: [UInt8], role name: String, delegator: String) throws(TrustError) {
        _ = try file(of: name)
        guard let delegation = role(delegator)?.delegation(to: name) else { throw .notDelegated(role: name) }
        let taken = try current.targets(bytes, named: name, keys: delegation.keys)
        let key = ExactString(name)
        if let known = delegated[key], known.sha256 != taken.sha256 { forgetVerifications(of: key) }
        delegated[key] = taken
        delegators[key, default: []].insert(ExactString(delegator))
    }

    /// Whoever verified the bytes that a role had did not verify those that take their place, and what these delegate is
    /// verified by nobody yet.
    private mutating func forgetVerifications(of name: ExactString) {
        delegators[name] = nil
        for role in delegators.keys { delegators[role]?.remove(name) }
    }

    /// A targets role that was taken.
    package func role(_ name: String) -> TargetsRole? { verified(name)?.role }

    /// A targets role as it was signed.
    package func envelope(of name: String) -> Envelope? { verified(name)?.envelope }

    /// What the snapshot says of a targets role; a role that it does not list is not asked for (TUF 5.6.1).
    package func file(of name: String) throws(TrustError) -> RoleFile { try current.file(of: name) }

    /// Refuses a name that no channel has, before anything of it is fetched: the error then lists the channels.
    package func refuseUnknown(_ channel: ChannelName) throws(TrustError) {
        guard targets.delegation(to: channel.text) == nil, !targets.hasRetired(channel.text) else { return }
        let known = targets.delegations.compactMap { ChannelName($0.name)?.text }.sorted()
        throw .noChannel(channel.text, known: known)
    }

    /// Refuses a channel that has ended, before anything of it is asked for: its files may be gone.
    func refuseRetired(_ role: String, by delegator: String) throws(TrustError) {
        guard delegator.hasSameBytes(as: "targets"), targets.hasRetired(role) else { return }
        throw .retired(channel: role)
    }

    /// Whether the delegator's keys have signed the very bytes that the role has now.
    ///
    /// A role that two others delegate to is verified by the keys that each of them names.
    package func isVerified(_ role: String, by delegator: String) -> Bool {
        guard !role.hasSameBytes(as: "targets") else { return delegator.hasSameBytes(as: "root") }
        return delegators[ExactString(role)]?.contains(ExactString(delegator)) ?? false
    }

    /// What `role` says of `target`: what a search of `target` would find, and nowhere else than there (TUF 5.6.7).
    package func target(_ target: TargetPath, of role: String) throws(TrustError) -> TargetFile {
        guard let delegation = targets.delegation(to: role) else { throw .notDelegated(role: role) }
        guard delegation.covers(target.text) else { throw .outsideDelegation(role: role, target: target.text) }
        if targets.targets[ExactString(target.text)] != nil {
            throw .shadowed(target: target.text, role: role, by: "targets")
        }
        if let first = targets.delegations.first(where: { $0.covers(target.text) }), !first.name.hasSameBytes(as: role)
        {
            throw .shadowed(target: target.text, role: role, by: first.name)
        }
        guard let file = self.role(role)?.targets[ExactString(target.text)] else {
            throw .noTarget(role: role, target: target.text)
        }
        return file
    }

    private func verified(_ name: String) -> VerifiedTargets? {
        name.hasSameBytes(as: "targets") ? top : delegated[ExactString(name)]
    }
}
