import PatchFormat

/// A timestamp that an earlier refresh accepted and whose signatures are still valid.
///
/// Its expiry was not checked.
///
/// An expired one still prevents rollback (TUF 5.4.3).
package struct KnownTimestamp: Sendable {
    package let role: TimestampRole
    let bytes: [UInt8]
}

extension TrustedRoot {
    /// - Throws: if the timestamp no longer verifies. After a rotation it counts as absent (TUF 5.3.11).
    package func knownTimestamp(_ bytes: [UInt8]) throws(TrustError) -> KnownTimestamp {
        let (_, role) = try verified(bytes, "timestamp", limit: Limits.timestamp, header: \.header) {
            envelope throws(FormatError) in try TimestampRole(envelope)
        }
        return KnownTimestamp(role: role, bytes: bytes)
    }
}

/// The last root of the chain, unexpired (TUF 5.3.10), and the known timestamp, if any.
package struct CurrentRoot: Sendable {
    package let root: TrustedRoot
    package let known: KnownTimestamp?
    private let expiry: ExpiryRule

    package init(_ root: TrustedRoot, knowing known: KnownTimestamp?, _ expiry: ExpiryRule) throws(TrustError) {
        (self.root, self.known) = (root, known)
        self.expiry = expiry.noting(signedAt: known?.role.signedAt)
        try self.expiry.check(root.role.header, role: "root")
    }

    /// Returns a received timestamp, or the known one if the received one is not newer (TUF 5.4.2 to 5.4.4).
    ///
    /// - Throws: `rolledBack` for an older one; ``keepingKnown()`` continues with the known one.
    package func timestamp(_ bytes: [UInt8]) throws(TrustError) -> TrustedTimestamp {
        let new = try root.knownTimestamp(bytes)
        guard let known else { return try TrustedTimestamp(new, under: self, expiry, isNew: true) }
        let (offered, trusted) = (new.role, known.role)
        guard offered.header.version >= trusted.header.version else {
            throw .rolledBack(role: "timestamp", offered: offered.header.version, trusted: trusted.header.version)
        }
        // Nothing to store: with an equal version, the known one's content counts (TUF 5.4.3.1).
        guard offered.header.version > trusted.header.version else { return try kept(known) }
        guard offered.snapshot.version >= trusted.snapshot.version else {
            throw .rolledBack(
                role: "snapshot",
                offered: offered.snapshot.version,
                trusted: trusted.snapshot.version
            )
        }
        return try TrustedTimestamp(new, under: self, expiry, isNew: true)
    }

    /// Returns the known timestamp if a server offers an older one, or nil if none is known.
    package func keepingKnown() throws(TrustError) -> TrustedTimestamp? {
        guard let known else { return nil }
        return try kept(known)
    }

    private func kept(_ known: KnownTimestamp) throws(TrustError) -> TrustedTimestamp {
        try TrustedTimestamp(known, under: self, expiry, isNew: false)
    }
}

/// An unexpired timestamp, under a root that is unexpired at the timestamp's own time (TUF 5.4).
package struct TrustedTimestamp: Sendable {
    package let root: TrustedRoot
    package let role: TimestampRole
    package let bytes: [UInt8]
    /// Whether it was received in this refresh and must be stored.
    package let isNew: Bool
    let expiry: ExpiryRule

    fileprivate init(
        _ timestamp: KnownTimestamp,
        under current: CurrentRoot,
        _ expiry: ExpiryRule,
        isNew: Bool
    ) throws(TrustError) {
        (root, role, bytes, self.isNew) = (current.root, timestamp.role, timestamp.bytes, isNew)
        self.expiry = expiry.noting(signedAt: role.signedAt)
        try self.expiry.check(role.header, role: "timestamp")
        // Checked again at this timestamp's own time: a timestamp from the far future is not stored.
        try self.expiry.check(root.role.header, role: "root")
    }
}
