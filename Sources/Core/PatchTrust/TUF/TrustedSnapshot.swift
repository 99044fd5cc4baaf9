import PatchCrypto
import PatchFormat

/// A snapshot that an earlier refresh accepted and whose signatures are still valid.
///
/// It may be the current one.
///
/// The versions of the roles that it lists must not decrease (TUF 5.5.5).
package struct KnownSnapshot: Sendable {
    package let role: SnapshotRole
    fileprivate let bytes: [UInt8]
}

extension TrustedTimestamp {
    /// - Throws: if the snapshot no longer verifies. After a rotation it counts as absent (TUF 5.3.11).
    package func knownSnapshot(_ bytes: [UInt8]) throws(TrustError) -> KnownSnapshot {
        let (_, role) = try root.verified(bytes, "snapshot", limit: Limits.snapshot, header: \.header) {
            envelope throws(FormatError) in try SnapshotRole(envelope)
        }
        return KnownSnapshot(role: role, bytes: bytes)
    }

    /// Whether the known snapshot is the one that the timestamp names.
    package func names(_ known: KnownSnapshot) -> Bool {
        known.role.header.version == role.snapshot.version && role.snapshot.matches(known.bytes)
    }
}

/// The snapshot that the timestamp names.
///
/// It is unexpired and does not roll back any role (TUF 5.5).
package struct TrustedSnapshot: Sendable {
    package let timestamp: TrustedTimestamp
    package let role: SnapshotRole

    package var root: TrustedRoot { timestamp.root }

    /// Verifies a received snapshot.
    package init(
        _ bytes: [UInt8],
        named timestamp: TrustedTimestamp,
        after known: KnownSnapshot? = nil
    ) throws(TrustError) {
        try timestamp.role.snapshot.check(bytes, name: "snapshot")
        let new = try timestamp.knownSnapshot(bytes)
        if let known { try new.role.checkRollback(from: known.role) }
        try self.init(current: new, named: timestamp)
    }

    /// Uses a known snapshot, which must have the version that the timestamp names.
    ///
    /// Digest and rollback are not checked: the caller has checked ``TrustedTimestamp/names(_:)``, or is the other initialiser.
    init(current known: KnownSnapshot, named timestamp: TrustedTimestamp) throws(TrustError) {
        (self.timestamp, role) = (timestamp, known.role)
        let named = timestamp.role.snapshot.version
        guard role.header.version == named else {
            throw .wrongVersion(role: "snapshot", offered: role.header.version, expected: named)
        }
        try timestamp.expiry.check(role.header, role: "snapshot")
    }

    /// The snapshot's description of a targets role.
    ///
    /// A role that the snapshot does not list is not requested (TUF 5.6.1).
    package func file(of name: String) throws(TrustError) -> RoleFile {
        guard let file = role.files[ExactString(name)] else { throw .notInSnapshot(role: name) }
        return file
    }

    /// Verifies a targets role with its delegator's keys.
    ///
    /// It must have the version that the snapshot names (TUF 5.6.2 to 5.6.5).
    ///
    /// - Parameter floor: a lower version is rejected even if the snapshot names it.
    func targets(
        _ bytes: [UInt8],
        named name: String,
        keys: RoleKeys,
        floor: Int = 0
    ) throws(TrustError) -> VerifiedTargets {
        let file = try file(of: name)
        try root.admission.check(keys, role: name)
        try file.check(bytes, name: name)
        let targets: VerifiedTargets
        do throws(FormatError) { targets = try VerifiedTargets(unchecked: bytes, name: name) } catch {
            throw .malformed(error)
        }
        try keys.check(targets.envelope, role: name)
        let header = targets.role.header
        try header.check(for: root.app, role: name)
        guard header.version == file.version else {
            throw .wrongVersion(role: name, offered: header.version, expected: file.version)
        }
        guard header.version >= floor else {
            throw .rolledBack(role: name, offered: header.version, trusted: floor)
        }
        try timestamp.expiry.check(header, role: name)
        try root.admission.check(targets.role.entryKeys, role: name)
        return targets
    }

    /// The version of the stored top targets role as the minimum of the next one, or 0 if other keys signed it.
    ///
    /// A new online key makes a client forget the snapshot and with it every known version (TUF 5.3.11). A thief of that key could
    /// then publish an older targets role that still lists a revoked key. Only the targets keys can raise this version too far;
    /// root then replaces them, which also resets the floor. This check goes beyond TUF: a client that follows the specification
    /// literally does not make it.
    func floor(ofTargets stored: [UInt8]) -> Int {
        let known = try? root.verified(stored, "targets", limit: Limits.targetsRole, header: \.header) {
            envelope throws(FormatError) in try TargetsRole(envelope, name: "targets")
        }
        return known?.1.header.version ?? 0
    }
}

/// A targets role with its signatures.
package struct VerifiedTargets: Sendable {
    package let role: TargetsRole
    package let envelope: Envelope
    /// The digest of its bytes, including signatures.
    let sha256: SHA256Digest

    /// Parses the role without verifying it; ``TrustedSnapshot`` verifies it before it returns it.
    fileprivate init(unchecked bytes: [UInt8], name: String) throws(FormatError) {
        envelope = try Envelope(bytes, role: name, limit: Limits.targetsRole)
        role = try TargetsRole(envelope, name: name)
        sha256 = SHA256Digest(of: bytes)
    }
}

extension SnapshotRole {
    /// Rejects a snapshot that omits a listed role or lowers its version (TUF 5.5.5).
    fileprivate func checkRollback(from known: SnapshotRole) throws(TrustError) {
        for (name, old) in known.files.sorted(by: { $0.key < $1.key }) {
            guard let new = files[name] else { throw .droppedFromSnapshot(role: name.text) }
            guard new.version >= old.version else {
                throw .rolledBack(role: name.text, offered: new.version, trusted: old.version)
            }
        }
    }
}
