import PatchCrypto
import PatchFormat

/// A snapshot that an earlier refresh took and whose signatures still count, the current one or not.
///
/// The roles that it lists must not go back (TUF 5.5.5).
package struct KnownSnapshot: Sendable {
    package let role: SnapshotRole
    fileprivate let bytes: [UInt8]
}

extension TrustedTimestamp {
    /// - Throws: where the snapshot no longer verifies: after a rotation it counts as absent (TUF 5.3.11).
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

/// The snapshot that the timestamp names, which has not ended and takes no role back (TUF 5.5).
package struct TrustedSnapshot: Sendable {
    package let timestamp: TrustedTimestamp
    package let role: SnapshotRole

    package var root: TrustedRoot { timestamp.root }

    /// A snapshot that came in.
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

    /// A known one, which may turn out not to be of the version that the timestamp names.
    ///
    /// Neither its digest nor a rollback is looked at: whoever calls it has asked ``TrustedTimestamp/names(_:)``, or comes from
    /// the other initialiser.
    init(current known: KnownSnapshot, named timestamp: TrustedTimestamp) throws(TrustError) {
        (self.timestamp, role) = (timestamp, known.role)
        let named = timestamp.role.snapshot.version
        guard role.header.version == named else {
            throw .wrongVersion(role: "snapshot", offered: role.header.version, expected: named)
        }
        try timestamp.expiry.check(role.header, role: "snapshot")
    }

    /// What the snapshot says of a targets role; a role that it does not list is not asked for (TUF 5.6.1).
    package func file(of name: String) throws(TrustError) -> RoleFile {
        guard let file = role.files[ExactString(name)] else { throw .notInSnapshot(role: name) }
        return file
    }

    /// A targets role by the keys of its delegator, of the version that the snapshot names (TUF 5.6.2 to 5.6.5).
    ///
    /// - Parameter floor: the version below which it is not taken, whatever the snapshot says.
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

    /// The version of a top targets role that was taken before, as a floor for the next one; 0 where other keys signed it.
    ///
    /// A new online key makes a client forget the snapshot and with it every version that was seen (TUF 5.3.11), so that
    /// whoever has that key could show an older targets role, in which a revoked key still counts. Only the targets keys can
    /// take this version too far ahead; they are then replaced in root, and the floor goes with them. Beyond TUF: a client
    /// that follows it to the letter does not ask.
    func floor(ofTargets stored: [UInt8]) -> Int {
        let known = try? root.verified(stored, "targets", limit: Limits.targetsRole, header: \.header) {
            envelope throws(FormatError) in try TargetsRole(envelope, name: "targets")
        }
        return known?.1.header.version ?? 0
    }
}

/// A targets role and the signatures that it came with.
package struct VerifiedTargets: Sendable {
    package let role: TargetsRole
    package let envelope: Envelope
    /// Of its bytes, signatures and all.
    let sha256: SHA256Digest

    /// Read and nothing more: ``TrustedSnapshot`` checks it before it hands it out.
    fileprivate init(unchecked bytes: [UInt8], name: String) throws(FormatError) {
        envelope = try Envelope(bytes, role: name, limit: Limits.targetsRole)
        role = try TargetsRole(envelope, name: name)
        sha256 = SHA256Digest(of: bytes)
    }
}

extension SnapshotRole {
    /// No role that was listed is dropped or goes back (TUF 5.5.5).
    fileprivate func checkRollback(from known: SnapshotRole) throws(TrustError) {
        for (name, old) in known.files.sorted(by: { $0.key < $1.key }) {
            guard let new = files[name] else { throw .droppedFromSnapshot(role: name.text) }
            guard new.version >= old.version else {
                throw .rolledBack(role: name.text, offered: new.version, trusted: old.version)
            }
        }
    }
}
