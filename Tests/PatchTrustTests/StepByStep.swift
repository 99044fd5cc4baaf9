import PatchFormat

@testable import PatchCrypto
@testable import PatchTrust

/// The stages of a refresh one by one, each with its rule, so that a test can look between them.
///
/// What a refresh asks of all of them, and that none is passed over, is shown by the tests of ``MetadataWalk``.
struct StepByStep {
    enum Update: Equatable {
        case taken, unchanged
    }

    private(set) var root: TrustedRoot
    private(set) var known: KnownTimestamp?
    private(set) var knownSnapshot: KnownSnapshot?
    private(set) var repository: TrustedRepository?
    let time: ReferenceTime

    init(_ root: [UInt8], at time: ReferenceTime, admitting admission: KeyAdmission = .all) throws(TrustError) {
        self.root = try TrustedRoot(anchor: root, admitting: admission)
        self.time = time
    }

    init(_ root: [UInt8], at clock: UTCTime) throws(TrustError) {
        try self.init(root, at: ReferenceTime(clock: clock))
    }

    var timestamp: TimestampRole? { known?.role }
    var snapshot: SnapshotRole? { knownSnapshot?.role }
    /// By which expiry is judged now.
    var judgedAt: ReferenceTime { time.noting(signedAt: timestamp?.signedAt) }

    mutating func updateRoot(_ bytes: [UInt8]) throws(TrustError) { root = try root.following(bytes) }

    func checkRootExpiry() throws(TrustError) { _ = try CurrentRoot(root, knowing: known, .everyRole(time)) }

    /// Signatures and rollback; whether it has ended, ``checkTimestampExpiry()`` asks.
    mutating func updateTimestamp(_ bytes: [UInt8]) throws(TrustError) -> Update {
        let current = try CurrentRoot(root, knowing: known, .noRole(because: .signsAgain))
        let timestamp = try current.timestamp(bytes)
        guard timestamp.isNew else { return .unchanged }
        known = try root.knownTimestamp(bytes)
        return .taken
    }

    func checkTimestampExpiry() throws(TrustError) { _ = try trustedTimestamp() }

    /// Signatures, and where it came in just now, digest and rollback; ``checkSnapshotIsCurrent()`` asks the rest.
    mutating func updateSnapshot(_ bytes: [UInt8], stored: Bool = false) throws(TrustError) {
        let timestamp = try trustedTimestamp()
        guard !stored else {
            knownSnapshot = try timestamp.knownSnapshot(bytes)
            return
        }
        do throws(TrustError) {
            _ = try TrustedSnapshot(bytes, named: timestamp, after: knownSnapshot)
        } catch .wrongVersion(role: "snapshot", _, _) {
        } catch .expired(role: "snapshot", _, _) {
        } catch .clockAheadOrStale(role: "snapshot", _, _) {}
        knownSnapshot = try timestamp.knownSnapshot(bytes)
    }

    func checkSnapshotIsCurrent() throws(TrustError) { _ = try trustedSnapshot() }

    func file(of role: String) throws(TrustError) -> RoleFile { try trustedSnapshot().file(of: role) }

    mutating func updateTargets(_ bytes: [UInt8], role: String, delegator: String) throws(TrustError) {
        if delegator == "root" {
            repository = try TrustedRepository(try trustedSnapshot(), targets: bytes)
        } else if var repository {
            try repository.take(bytes, role: role, delegator: delegator)
            self.repository = repository
        } else {
            throw .notDelegated(role: role)
        }
    }

    func target(_ target: TargetPath, of role: String) throws(TrustError) -> TargetFile {
        guard let repository else { throw .notDelegated(role: role) }
        return try repository.target(target, of: role)
    }

    private func trustedTimestamp() throws(TrustError) -> TrustedTimestamp {
        let current = try CurrentRoot(root, knowing: known, .everyRole(time))
        guard let timestamp = try current.keepingKnown() else { preconditionFailure("the timestamp comes first") }
        return timestamp
    }

    private func trustedSnapshot() throws(TrustError) -> TrustedSnapshot {
        guard let knownSnapshot else { preconditionFailure("the snapshot comes first") }
        return try TrustedSnapshot(current: knownSnapshot, named: try trustedTimestamp())
    }
}
