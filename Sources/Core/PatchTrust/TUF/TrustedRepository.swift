import PatchCrypto
package import PatchFormat

/// A repository that is trusted up to the top targets role, and the delegated roles loaded so far.
///
/// It does no I/O. A ``MetadataWalk`` makes it, or its own rules do, step by step, from a ``TrustedSnapshot``.
package struct TrustedRepository: Sendable {
    private let current: TrustedSnapshot
    private let top: VerifiedTargets
    /// The loaded delegated roles by name.
    private var delegated: [ExactString: VerifiedTargets] = [:]
    /// The delegators whose current keys have verified the current bytes of each role.
    private var delegators: [ExactString: Set<ExactString>] = [:]

    package var root: TrustedRoot { current.root }
    package var timestamp: TrustedTimestamp { current.timestamp }
    package var snapshot: SnapshotRole { current.role }
    /// The top targets role.
    package var targets: TargetsRole { top.role }

    /// Verifies the top targets role with the root's keys (TUF 5.6).
    ///
    /// - Parameter floor: see ``TrustedSnapshot/floor(ofTargets:)``.
    package init(_ snapshot: TrustedSnapshot, targets bytes: [UInt8], floor: Int = 0) throws(TrustError) {
        current = snapshot
        let keys = snapshot.root.role.keys(of: "targets")
        top = try snapshot.targets(bytes, named: "targets", keys: keys, floor: floor)
    }

    /// Verifies a delegated role with its delegator's keys and replaces the role's earlier bytes (TUF 5.6.7).
    ///
    /// If the snapshot lists no hash, two delegators' keys may have signed different bytes of one version.
    package mutating func take(_ bytes: [UInt8], role name: String, delegator: String) throws(TrustError) {
        _ = try file(of: name)
        guard let delegation = role(delegator)?.delegation(to: name) else { throw .notDelegated(role: name) }
        let taken = try current.targets(bytes, named: name, keys: delegation.keys)
        let key = ExactString(name)
        if let known = delegated[key], known.sha256 != taken.sha256 { forgetVerifications(of: key) }
        delegated[key] = taken
        delegators[key, default: []].insert(ExactString(delegator))
    }

    /// Forgets the verifications of replaced bytes.
    ///
    /// The delegations of the new bytes have not been verified either.
    private mutating func forgetVerifications(of name: ExactString) {
        delegators[name] = nil
        for role in delegators.keys { delegators[role]?.remove(name) }
    }

    /// A loaded targets role.
    package func role(_ name: String) -> TargetsRole? { verified(name)?.role }

    /// A loaded targets role with its signatures.
    package func envelope(of name: String) -> Envelope? { verified(name)?.envelope }

    /// The snapshot's description of a targets role.
    ///
    /// A role that the snapshot does not list is not requested (TUF 5.6.1).
    package func file(of name: String) throws(TrustError) -> RoleFile { try current.file(of: name) }

    /// Rejects an unknown channel before any of its files are downloaded.
    ///
    /// The error lists the channels.
    package func refuseUnknown(_ channel: ChannelName) throws(TrustError) {
        guard targets.delegation(to: channel.text) == nil, !targets.hasRetired(channel.text) else { return }
        let known = targets.delegations.compactMap { ChannelName($0.name)?.text }.sorted()
        throw .noChannel(channel.text, known: known)
    }

    /// Rejects a retired channel before any of its files are requested, because they may no longer exist.
    func refuseRetired(_ role: String, by delegator: String) throws(TrustError) {
        guard delegator.hasSameBytes(as: "targets"), targets.hasRetired(role) else { return }
        throw .retired(channel: role)
    }

    /// Whether the delegator's keys have signed the role's current bytes.
    ///
    /// A role with two delegators must be verified with the keys of each.
    package func isVerified(_ role: String, by delegator: String) -> Bool {
        guard !role.hasSameBytes(as: "targets") else { return delegator.hasSameBytes(as: "root") }
        return delegators[ExactString(role)]?.contains(ExactString(delegator)) ?? false
    }

    /// Returns the description of `target` in `role`, but only if a search for `target` would find it there (TUF 5.6.7).
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
