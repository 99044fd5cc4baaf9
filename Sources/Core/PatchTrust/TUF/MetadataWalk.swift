import PatchCrypto
package import PatchFormat

/// The client workflow of TUF 5.3 to 5.6, without I/O: it requests one role after the other, and verifies the bytes.
///
/// ```
/// root → root → … → unexpired root → timestamp → snapshot → targets → done → a delegated role → done → …
/// ```
///
/// Each stage is made from the verified stage before it, so none can be used too early. The driver answers ``next()`` by
/// ``recall(_:)``, ``take(_:)`` or ``absent()`` until the walk is done. Rejected bytes leave the walk unchanged, so the driver may
/// offer other bytes, or give up.
package struct MetadataWalk: Sendable {
    /// The next request of the walk.
    package enum Step: Sendable {
        /// The role as an earlier walk stored it, if it did: ``MetadataWalk/recall(_:)``.
        case recall(role: String)
        /// A role from the repository: ``MetadataWalk/take(_:)``, or ``MetadataWalk/absent()`` if the role may be absent.
        case fetch(RoleRequest)
        case done(TrustedRepository)
    }

    /// The outcome of ``MetadataWalk/take(_:)``.
    package enum Taken: Equatable, Sendable {
        /// The role is now trusted and must be stored.
        case new
        /// The role has the version that is already trusted, so there is nothing to store (TUF 5.4.3.1).
        case known
        /// The timestamp is older than the known one, which remains trusted.
        case older(offered: Int, known: Int)
    }

    private enum Stage: Sendable {
        case roots(TrustedRoot, followed: Int)
        case knownTimestamp(TrustedRoot)
        case timestamp(CurrentRoot)
        case knownSnapshot(TrustedTimestamp)
        case snapshot(TrustedTimestamp, KnownSnapshot?)
        case knownTargets(TrustedSnapshot)
        case targets(TrustedSnapshot, floor: Int)
        case knownRole(TrustedRepository, name: String, delegator: String)
        case role(TrustedRepository, name: String, delegator: String)
        case done(TrustedRepository)
    }

    private var stage: Stage
    private let expiry: ExpiryRule
    private let keepsTargetsFloor: Bool

    /// Creates a walk from an anchor through all later roots.
    ///
    /// - Parameter keepsTargetsFloor: see ``TrustedSnapshot/floor(ofTargets:)``.
    package init(from anchor: TrustedRoot, _ expiry: ExpiryRule, keepsTargetsFloor: Bool = false) {
        stage = .roots(anchor, followed: 0)
        (self.expiry, self.keepsTargetsFloor) = (expiry, keepsTargetsFloor)
    }

    /// Creates a walk from the newest root.
    package init(under root: TrustedRoot, _ expiry: ExpiryRule) {
        stage = .knownTimestamp(root)
        (self.expiry, keepsTargetsFloor) = (expiry, false)
    }

    /// Creates a walk to a delegated role of a repository.
    ///
    /// It is done at once if the delegator's keys have already verified the role.
    package init(in repository: TrustedRepository, to name: String, by delegator: String) {
        stage =
            repository.isVerified(name, by: delegator)
            ? .done(repository) : .knownRole(repository, name: name, delegator: delegator)
        (expiry, keepsTargetsFloor) = (repository.timestamp.expiry, false)
    }

    /// - Throws: `notInSnapshot` if the snapshot does not list the next role.
    package func next() throws(TrustError) -> Step {
        switch stage {
        case .roots(let root, _): return .fetch(.root(version: root.version + 1))
        case .knownTimestamp: return .recall(role: "timestamp")
        case .timestamp(let current): return .fetch(.timestamp(known: current.known?.bytes))
        case .knownSnapshot: return .recall(role: "snapshot")
        case .snapshot(let timestamp, _):
            return Self.fetch("snapshot", timestamp.role.snapshot, under: timestamp.root)
        case .knownTargets(let snapshot):
            _ = try snapshot.file(of: "targets")
            return .recall(role: "targets")
        case .targets(let snapshot, _):
            return Self.fetch("targets", try snapshot.file(of: "targets"), under: snapshot.root)
        case .knownRole(let repository, let name, let delegator):
            try repository.refuseRetired(name, by: delegator)
            _ = try repository.file(of: name)
            return .recall(role: name)
        case .role(let repository, let name, _):
            return Self.fetch(name, try repository.file(of: name), under: repository.root)
        case .done(let repository): return .done(repository)
        }
    }

    /// Verifies a stored role by the same rules as a received one.
    ///
    /// A rejected one counts as absent.
    ///
    /// - Throws: if the stored roles lead to an expired root, timestamp or snapshot.
    package mutating func recall(_ stored: [UInt8]?) throws(TrustError) {
        switch stage {
        case .knownTimestamp(let root):
            let known = stored.flatMap { try? root.knownTimestamp($0) }
            stage = .timestamp(try CurrentRoot(root, knowing: known, expiry))
        case .knownSnapshot(let timestamp):
            guard let known = stored.flatMap({ try? timestamp.knownSnapshot($0) }) else {
                stage = .snapshot(timestamp, nil)
                return
            }
            stage =
                timestamp.names(known)
                ? .knownTargets(try TrustedSnapshot(current: known, named: timestamp)) : .snapshot(timestamp, known)
        case .knownTargets(let snapshot):
            if let stored, let repository = try? TrustedRepository(snapshot, targets: stored) {
                stage = .done(repository)
            } else {
                let floor = keepsTargetsFloor ? stored.map { snapshot.floor(ofTargets: $0) } : nil
                stage = .targets(snapshot, floor: floor ?? 0)
            }
        case .knownRole(var repository, let name, let delegator):
            let isTaken = stored.flatMap { try? repository.take($0, role: name, delegator: delegator) } != nil
            stage = isTaken ? .done(repository) : .role(repository, name: name, delegator: delegator)
        case .roots, .timestamp, .snapshot, .targets, .role, .done:
            preconditionFailure("nothing is recalled here")
        }
    }

    /// Verifies received bytes.
    package mutating func take(_ bytes: [UInt8]) throws(TrustError) -> Taken {
        switch stage {
        case .roots(let root, let followed):
            guard followed < Limits.rootRotations else { throw .tooManyRoots(limit: Limits.rootRotations) }
            stage = .roots(try root.following(bytes), followed: followed + 1)
        case .timestamp(let current): return try take(timestamp: bytes, current)
        case .snapshot(let timestamp, let known):
            stage = .knownTargets(try TrustedSnapshot(bytes, named: timestamp, after: known))
        case .targets(let snapshot, let floor):
            stage = .done(try TrustedRepository(snapshot, targets: bytes, floor: floor))
        case .role(var repository, let name, let delegator):
            try repository.take(bytes, role: name, delegator: delegator)
            stage = .done(repository)
        case .knownTimestamp, .knownSnapshot, .knownTargets, .knownRole, .done:
            preconditionFailure("nothing was asked for here")
        }
        return .new
    }

    /// Reports that the repository has no such file: there is no later root (TUF 5.3.3).
    package mutating func absent() {
        guard case .roots(let root, _) = stage else { preconditionFailure("only a root may be absent") }
        stage = .knownTimestamp(root)
    }

    private mutating func take(timestamp bytes: [UInt8], _ current: CurrentRoot) throws(TrustError) -> Taken {
        do throws(TrustError) {
            let timestamp = try current.timestamp(bytes)
            stage = .knownSnapshot(timestamp)
            return timestamp.isNew ? .new : .known
        } catch .rolledBack(role: "timestamp", let offered, let known) {
            guard let kept = try current.keepingKnown() else { preconditionFailure("nothing is older than nothing") }
            stage = .knownSnapshot(kept)
            return .older(offered: offered, known: known)
        }
    }

    private static func fetch(_ role: String, _ file: RoleFile, under root: TrustedRoot) -> Step {
        .fetch(.role(role, file, isVersioned: root.role.consistentSnapshot))
    }
}

/// A role that a walk requests from its repository.
package enum RoleRequest: Equatable, Sendable {
    /// The only role that may be absent.
    case root(version: Int)
    /// - Parameter known: the stored bytes, which a server need not send again.
    case timestamp(known: [UInt8]?)
    /// The snapshot or a targets role, with the referrer's data about its file.
    case role(String, RoleFile, isVersioned: Bool)

    /// The name under which the role is stored.
    package var role: String {
        switch self {
        case .root: "root"
        case .timestamp: "timestamp"
        case .role(let name, _, _): name
        }
    }

    /// The role's path in the published tree of one app.
    package var path: String {
        switch self {
        case .root(let version): URLLayout.metadata("root", version: version)
        case .timestamp: URLLayout.timestamp
        case .role(let name, let file, let isVersioned):
            URLLayout.metadata(name, version: isVersioned ? file.version : nil)
        }
    }

    /// The digest from the referrer, if it contains one.
    package var sha256: SHA256Digest? {
        switch self {
        case .root, .timestamp: nil
        case .role(_, let file, _): file.sha256
        }
    }

    /// The size limit for this kind of role, in bytes.
    package var limit: Int {
        switch self {
        case .root: Limits.root
        case .timestamp: Limits.timestamp
        case .role("snapshot", _, _): Limits.snapshot
        case .role: Limits.targetsRole
        }
    }

    /// The most bytes to read: the size from the referrer if it contains one, up to the limit.
    package var mostBytes: Int {
        switch self {
        case .root, .timestamp: limit
        case .role(_, let file, _): min(file.length ?? limit, limit)
        }
    }
}
