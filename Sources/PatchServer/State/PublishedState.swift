package import PatchFormat
package import PatchTrust
import ReleaseFolder

/// What the published tree of one app says now, every role of it verified from the root of trust.
///
/// Only its initialisers make one. Expiry is not looked at: a server whose roles ran out while it was off must be able to
/// sign them again.
package struct PublishedState: Sendable {
    package struct Channel: Sendable {
        package let role: TargetsRole
        /// With the signatures that it was published with.
        let envelope: Envelope
        /// See ``Envelope/identity``.
        package let identity: SHA256Digest
    }

    package let app: AppID
    /// The roots that led here, the newest of them last.
    let roots: [RootChain.Link]
    package let root: RootRole
    /// Of which ``timestamp`` is made: the one file of a tree that is replaced, and only while it is the one that was read.
    let timestampBytes: [UInt8]
    package let timestamp: TimestampRole
    package let snapshot: SnapshotRole
    package let targets: TargetsRole
    package let dial: TargetsRole
    /// What `targets` says of the dial.
    package let dialDelegation: Delegation
    package let channels: [ChannelName: Channel]

    /// Reads and verifies every role of the tree; the root of trust is the one that `init` was given.
    package init(of tree: AppTree) throws(ServerError) {
        try self.init(Walk(tree, along: try RootChain(of: tree).links[...], offered: nil))
    }

    /// The tree as it stands before a newer root of trust is taken in, or while that was interrupted.
    ///
    /// Its roles are judged by the newest root of the chain under which all of them verify: for a moment of every such
    /// update the tree has a root whose keys did not sign its timestamp yet.
    /// - Parameter offered: heals the targets role where the tree lost the very bytes that are offered.
    init(of tree: AppTree, under chain: RootChain, offered: OfferedTrust) throws(ServerError) {
        var first: ServerError?
        for last in chain.links.indices.reversed() {
            do throws(ServerError) {
                try self.init(Walk(tree, along: chain.links[...last], offered: offered.targets))
                return
            } catch { first = first ?? error }
        }
        guard let first else { preconditionFailure("a chain has at least one root") }
        throw first
    }

    private init(_ start: Walk) throws(ServerError) {
        var walk = start
        let tree = walk.tree
        app = tree.app
        roots = walk.roots
        root = walk.trusted.root
        (timestampBytes, timestamp, snapshot) = try walk.freshness()
        targets = try walk.role("targets", by: "root").role
        guard let dialDelegation = targets.delegation(to: "dial") else {
            throw .tree(tree.app, .notDelegated(role: "dial"))
        }
        self.dialDelegation = dialDelegation
        var channels: [ChannelName: Channel] = [:]
        for delegation in targets.delegations {
            guard let channel = ChannelName(delegation.name), snapshot.files[ExactString(channel.text)] != nil else {
                continue
            }
            let (role, envelope) = try walk.role(channel.text, by: "targets")
            channels[channel] = Channel(
                role: role,
                envelope: envelope,
                identity: envelope.identity
            )
        }
        self.channels = channels
        dial = try walk.role("dial", by: "targets").role
    }

    /// Those that the root of trust names, whether something is published in them or not.
    var channelNames: [ChannelName] { targets.delegations.compactMap { ChannelName($0.name) }.sorted() }

    /// - Throws: `noChannel` for any other.
    func check(_ channel: ChannelName) throws(ServerError) {
        guard channelNames.contains(channel) else { throw .noChannel(app, channel, known: channelNames) }
    }

    /// The channel role's version; 0 before the first release.
    package func version(of channel: ChannelName) -> Int {
        channels[channel]?.role.header.version ?? 0
    }
}

/// The way from the root of trust to every role that the snapshot lists.
private struct Walk {
    let tree: AppTree
    let roots: [RootChain.Link]
    var trusted: TrustedMetadata

    /// The targets role's bytes, should the tree have lost them.
    let offered: [UInt8]?

    /// - Parameter roots: never empty.
    init(_ tree: AppTree, along roots: ArraySlice<RootChain.Link>, offered: [UInt8]?) {
        self.tree = tree
        self.roots = Array(roots)
        self.offered = offered
        trusted = roots[roots.endIndex - 1].trusted
    }

    mutating func freshness() throws(ServerError) -> ([UInt8], TimestampRole, SnapshotRole) {
        let timestampBytes = try tree.read(.timestamp, limit: Limits.timestamp)
        try judge { trusted throws(TrustError) in _ = try trusted.updateTimestamp(timestampBytes) }
        guard let timestamp = trusted.timestamp else { preconditionFailure("the first timestamp is always taken") }
        let snapshotBytes = try tree.read(
            .role("snapshot", version: timestamp.snapshot.version),
            limit: Limits.snapshot
        )
        try judge { trusted throws(TrustError) in
            try trusted.updateSnapshot(snapshotBytes)
            try trusted.checkSnapshotIsCurrent()
        }
        guard let snapshot = trusted.snapshot else { preconditionFailure("a snapshot that is not taken throws") }
        return (timestampBytes, timestamp, snapshot)
    }

    mutating func role(_ name: String, by delegator: String) throws(ServerError) -> (
        role: TargetsRole, envelope: Envelope
    ) {
        let file = try judge { trusted throws(TrustError) in try trusted.file(of: name) }
        let bytes: [UInt8]
        if name == "targets", let offered, file == RoleFile(of: offered, version: file.version) {
            bytes = offered
        } else {
            bytes = try tree.read(.role(name, version: file.version), limit: Limits.targetsRole)
        }
        try judge { trusted throws(TrustError) in try trusted.updateTargets(bytes, role: name, delegator: delegator) }
        let envelope: Envelope
        do throws(FormatError) {
            envelope = try Envelope(bytes, role: name, limit: Limits.targetsRole)
        } catch { throw .tree(tree.app, .malformed(error)) }
        guard let role = trusted.targets[ExactString(name)] else {
            preconditionFailure("a role that is not taken throws")
        }
        return (role, envelope)
    }

    private mutating func judge<Value>(_ rule: (inout TrustedMetadata) throws(TrustError) -> Value) throws(ServerError)
        -> Value
    {
        do throws(TrustError) { return try rule(&trusted) } catch { throw .tree(tree.app, error) }
    }
}
