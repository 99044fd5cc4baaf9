package import PatchFormat
package import PatchTrust
import ReleaseFolder

/// What the published tree of one app says now, every role of it verified from the root of trust.
///
/// Only ``init(of:)`` makes one. Expiry is not looked at: a server whose roles ran out while it was off must be able to
/// sign them again.
package struct PublishedState: Sendable {
    package struct Channel: Sendable {
        package let role: TargetsRole
        /// See ``SignedRelease/identity(of:)``.
        package let identity: SHA256Digest
    }

    package let app: AppID
    package let root: RootRole
    package let timestamp: TimestampRole
    package let snapshot: SnapshotRole
    package let targets: TargetsRole
    package let dial: TargetsRole
    /// What `targets` says of the dial.
    package let dialDelegation: Delegation
    package let channels: [ChannelName: Channel]

    /// Reads and verifies every role of the tree; the root of trust is the one that `init` was given.
    package init(of repository: AppRepository) throws(ServerError) {
        var walk = try Walk(repository)
        try walk.followRoots()
        app = repository.app
        root = walk.trusted.root
        (timestamp, snapshot) = try walk.freshness()
        targets = try walk.role("targets", by: "root").role
        guard let dialDelegation = targets.delegation(to: "dial") else {
            throw .tree(repository.app, .notDelegated(role: "dial"))
        }
        self.dialDelegation = dialDelegation
        var channels: [ChannelName: Channel] = [:]
        for delegation in targets.delegations {
            guard let channel = ChannelName(delegation.name), snapshot.files[ExactString(channel.text)] != nil else {
                continue
            }
            let (role, envelope) = try walk.role(channel.text, by: "targets")
            channels[channel] = Channel(role: role, identity: SignedRelease.identity(of: envelope))
        }
        self.channels = channels
        dial = try walk.role("dial", by: "targets").role
    }

    /// The channel role's version; 0 before the first release.
    package func version(of channel: ChannelName) -> Int {
        channels[channel]?.role.header.version ?? 0
    }
}

/// The way from the root of trust to every role that the snapshot lists.
private struct Walk {
    let repository: AppRepository
    var trusted: TrustedMetadata

    init(_ repository: AppRepository) throws(ServerError) {
        self.repository = repository
        let anchor = try repository.read(repository.anchorFile, limit: Limits.root)
        do throws(TrustError) {
            // No reference time: nothing is expired at the beginning of time.
            trusted = try TrustedMetadata(trustedRoot: anchor, at: UTCTime(seconds: 0))
        } catch { throw .tree(repository.app, error) }
        let version = trusted.root.header.version
        guard try repository.read(.root(version: version), limit: Limits.root) == anchor else {
            throw .tree(repository.app, .wrongDigest(name: "\(version).root.json", algorithm: "sha256"))
        }
    }

    mutating func followRoots() throws(ServerError) {
        while true {
            let next = TreePath.File.root(version: trusted.root.header.version + 1)
            guard try repository.exists(repository.path(of: next)) else { return }
            let bytes = try repository.read(next, limit: Limits.root)
            try judge { trusted throws(TrustError) in try trusted.updateRoot(bytes) }
        }
    }

    mutating func freshness() throws(ServerError) -> (TimestampRole, SnapshotRole) {
        let timestampBytes = try repository.read(.timestamp, limit: Limits.timestamp)
        try judge { trusted throws(TrustError) in _ = try trusted.updateTimestamp(timestampBytes) }
        guard let timestamp = trusted.timestamp else { preconditionFailure("the first timestamp is always taken") }
        let snapshotBytes = try repository.read(
            .role("snapshot", version: timestamp.snapshot.version),
            limit: Limits.snapshot
        )
        try judge { trusted throws(TrustError) in
            try trusted.updateSnapshot(snapshotBytes)
            try trusted.checkSnapshotIsCurrent()
        }
        guard let snapshot = trusted.snapshot else { preconditionFailure("a snapshot that is not taken throws") }
        return (timestamp, snapshot)
    }

    mutating func role(_ name: String, by delegator: String) throws(ServerError) -> (
        role: TargetsRole, envelope: Envelope
    ) {
        let version = try judge { trusted throws(TrustError) in try trusted.file(of: name).version }
        let bytes = try repository.read(.role(name, version: version), limit: Limits.targetsRole)
        try judge { trusted throws(TrustError) in try trusted.updateTargets(bytes, role: name, delegator: delegator) }
        let envelope: Envelope
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: name, limit: Limits.targetsRole)
        } catch { throw .tree(repository.app, .malformed(error)) }
        guard let role = trusted.targets[ExactString(name)] else {
            preconditionFailure("a role that is not taken throws")
        }
        return (role, envelope)
    }

    private mutating func judge<Value>(_ rule: (inout TrustedMetadata) throws(TrustError) -> Value) throws(ServerError)
        -> Value
    {
        do throws(TrustError) { return try rule(&trusted) } catch { throw .tree(repository.app, error) }
    }
}
