package import PatchFormat

/// What is trusted so far in one refresh, and the rules by which more becomes trusted (TUF 5.3 to 5.6).
///
/// Pure: bytes in, answer out; no clock, no file, no network. The workflow asks in the order root, timestamp, snapshot,
/// targets, delegated roles. What was stored by an earlier refresh goes through the same rules as what comes in.
package struct TrustedMetadata: Sendable {
    /// What became of new bytes.
    package enum Update: Equatable, Sendable {
        /// Trusted now; the bytes are worth storing.
        case taken
        /// The same version as the one already trusted: kept, nothing to store (TUF 5.4.3.1).
        case unchanged
    }

    package private(set) var time: ReferenceTime
    package private(set) var root: RootRole
    package private(set) var timestamp: TimestampRole?
    package private(set) var snapshot: SnapshotRole?
    /// Targets roles by name.
    package private(set) var targets: [ExactString: TargetsRole] = [:]
    /// Which delegators have verified each of them.
    private var delegators: [ExactString: Set<ExactString>] = [:]
    private let admission: KeyAdmission
    /// The version below which no top targets role is taken, whatever the snapshot says.
    private var targetsFloor = 0

    package init(trustedRoot bytes: [UInt8], at clock: UTCTime) throws(TrustError) {
        try self.init(trustedRoot: bytes, at: ReferenceTime(clock: clock))
    }

    /// Starts from a root that the caller already trusts: it must be signed by itself; its expiry is looked at later.
    ///
    /// - Parameter admission: which keys count, in this root and in all that follows from it.
    package init(
        trustedRoot bytes: [UInt8],
        at time: ReferenceTime,
        admitting admission: KeyAdmission = .all
    ) throws(TrustError) {
        self.time = time
        self.admission = admission
        let (envelope, role) = try Self.root(bytes)
        try role.keys(of: "root").check(envelope, role: "root")
        try admission.check(role)
        root = role
    }

    private static func root(_ bytes: [UInt8]) throws(TrustError) -> (Envelope, RootRole) {
        do throws(FormatError) {
            let envelope = try Envelope(bytes, role: "root", limit: Limits.root)
            return (envelope, try RootRole(envelope))
        } catch { throw .malformed(error) }
    }

    /// The next root: signed by the present one and by itself, one version higher (TUF 5.3.4, 5.3.5).
    package mutating func updateRoot(_ bytes: [UInt8]) throws(TrustError) {
        precondition(timestamp == nil, "roots come first")
        let (envelope, role) = try Self.root(bytes)
        try root.keys(of: "root").check(envelope, role: "root")
        guard role.header.version == root.header.version + 1 else {
            throw .wrongVersion(role: "root", offered: role.header.version, expected: root.header.version + 1)
        }
        try role.keys(of: "root").check(envelope, role: "root")
        if let app = root.app, role.app != app {
            throw .foreign(document: "root", field: "app", found: role.app?.text ?? "none", expected: app.text)
        }
        try admission.check(role)
        root = role
    }

    /// The last root of the chain must not be expired (TUF 5.3.10).
    package func checkRootExpiry() throws(TrustError) {
        try time.check(root.header, role: "root")
    }

    /// A timestamp, stored or new.
    ///
    /// An expired stored one still guards against rollback (TUF 5.4.2 to 5.4.4).
    package mutating func updateTimestamp(_ bytes: [UInt8]) throws(TrustError) -> Update {
        let envelope: Envelope
        let role: TimestampRole
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: "timestamp", limit: Limits.timestamp)
            role = try TimestampRole(envelope)
        } catch { throw .malformed(error) }
        try root.keys(of: "timestamp").check(envelope, role: "timestamp")
        if let known = timestamp {
            guard role.header.version >= known.header.version else {
                throw .rolledBack(role: "timestamp", offered: role.header.version, trusted: known.header.version)
            }
            if role.header.version == known.header.version { return .unchanged }
            guard role.snapshot.version >= known.snapshot.version else {
                throw .rolledBack(role: "snapshot", offered: role.snapshot.version, trusted: known.snapshot.version)
            }
        }
        timestamp = role
        time.note(signedAt: role.signedAt)
        return .taken
    }

    package func checkTimestampExpiry() throws(TrustError) {
        guard let timestamp else { preconditionFailure("no timestamp yet") }
        try time.check(timestamp.header, role: "timestamp")
    }

    /// A snapshot.
    ///
    /// A stored one is taken for rollback checks even when it is no longer the current one (TUF 5.5.2 to 5.5.6).
    package mutating func updateSnapshot(_ bytes: [UInt8], stored: Bool = false) throws(TrustError) {
        guard let file = timestamp?.snapshot else { preconditionFailure("the timestamp comes before the snapshot") }
        if !stored { try file.check(bytes, name: "snapshot") }
        let envelope: Envelope
        let role: SnapshotRole
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: "snapshot", limit: Limits.snapshot)
            role = try SnapshotRole(envelope)
        } catch { throw .malformed(error) }
        try root.keys(of: "snapshot").check(envelope, role: "snapshot")
        if let known = snapshot {
            for (name, old) in known.files.sorted(by: { $0.key < $1.key }) {
                guard let new = role.files[name] else { throw .droppedFromSnapshot(role: name.text) }
                guard new.version >= old.version else {
                    throw .rolledBack(role: name.text, offered: new.version, trusted: old.version)
                }
            }
        }
        snapshot = role
    }

    /// The snapshot in hand is the one the timestamp names, and is not expired (TUF 5.5.4, 5.5.6).
    package func checkSnapshotIsCurrent() throws(TrustError) {
        guard let file = timestamp?.snapshot, let snapshot else { preconditionFailure("no snapshot yet") }
        guard snapshot.header.version == file.version else {
            throw .wrongVersion(role: "snapshot", offered: snapshot.header.version, expected: file.version)
        }
        try time.check(snapshot.header, role: "snapshot")
    }

    /// What the snapshot says of a targets role; a role that it does not list is not asked for (TUF 5.6.1).
    package func file(of role: String) throws(TrustError) -> RoleFile {
        guard let snapshot else { preconditionFailure("the snapshot comes before targets roles") }
        guard let file = snapshot.files[ExactString(role)] else { throw .notInSnapshot(role: role) }
        return file
    }

    /// The top targets role that was taken before stays a floor for its version while root names the keys that signed it.
    ///
    /// A new online key makes a client forget the snapshot and with it every version that was seen (TUF 5.3.11), so that
    /// whoever has that key could show an older targets role, in which a revoked key still counts. Only the targets keys can
    /// take this version too far ahead; they are then replaced in root, and the floor goes with them. Beyond TUF: a client
    /// that follows it to the letter does not call this.
    package mutating func keepFloor(ofTargets stored: [UInt8]) {
        guard let envelope = try? Envelope(stored, role: "targets", limit: Limits.targetsRole),
            (try? root.keys(of: "targets").check(envelope, role: "targets")) != nil,
            let role = try? TargetsRole(envelope, name: "targets")
        else { return }
        targetsFloor = max(targetsFloor, role.header.version)
    }

    /// A targets role, stored or new, by the keys of its delegator (TUF 5.6.2 to 5.6.5).
    package mutating func updateTargets(_ bytes: [UInt8], role name: String, delegator: String) throws(TrustError) {
        let file = try file(of: name)
        let keys: RoleKeys
        if delegator == "root" {
            keys = root.keys(of: name)
        } else {
            guard let delegation = targets[ExactString(delegator)]?.delegation(to: name) else {
                throw .notDelegated(role: name)
            }
            keys = delegation.keys
        }
        try admission.check(keys, role: name)
        try file.check(bytes, name: name)
        let envelope: Envelope
        let role: TargetsRole
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: name, limit: Limits.targetsRole)
            role = try TargetsRole(envelope, name: name)
        } catch { throw .malformed(error) }
        try keys.check(envelope, role: name)
        guard role.header.version == file.version else {
            throw .wrongVersion(role: name, offered: role.header.version, expected: file.version)
        }
        if delegator == "root", role.header.version < targetsFloor {
            throw .rolledBack(role: name, offered: role.header.version, trusted: targetsFloor)
        }
        try time.check(role.header, role: name)
        try admission.check(role.entryKeys, role: name)
        targets[ExactString(name)] = role
        delegators[ExactString(name), default: []].insert(ExactString(delegator))
    }

    /// A role that two others delegate to is verified by the keys that each of them names.
    package func isVerified(_ role: String, by delegator: String) -> Bool {
        delegators[ExactString(role)]?.contains(ExactString(delegator)) ?? false
    }

    /// What `role` says of `target`: what a search of `target` would find, and nowhere else than there (TUF 5.6.7).
    package func target(_ target: TargetPath, of role: String) throws(TrustError) -> TargetFile {
        guard let top = targets["targets"], let delegation = top.delegation(to: role) else {
            throw .notDelegated(role: role)
        }
        guard delegation.covers(target.text) else { throw .outsideDelegation(role: role, target: target.text) }
        if top.targets[ExactString(target.text)] != nil {
            throw .shadowed(target: target.text, role: role, by: "targets")
        }
        if let first = top.delegations.first(where: { $0.covers(target.text) }), !first.name.hasSameBytes(as: role) {
            throw .shadowed(target: target.text, role: role, by: first.name)
        }
        guard let file = targets[ExactString(role)]?.targets[ExactString(target.text)] else {
            throw .noTarget(role: role, target: target.text)
        }
        return file
    }
}
