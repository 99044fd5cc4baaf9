package import PatchFormat
import PatchCrypto
package import PatchTrust
import ReleaseFolder

/// The published state of one app, with every role verified from the root of trust.
///
/// Only its initialisers make one. Expiry is not checked: a server whose roles expired while it was off must be able to sign them
/// again.
package struct PublishedState: Sendable {
    package struct Channel: Sendable {
        package let role: TargetsRole
        /// The role with the signatures that it was published with.
        package let envelope: Envelope
        /// See ``Envelope/identity``.
        package let identity: SHA256Digest
    }

    package let app: AppID
    /// The chain of roots, the newest last.
    package let roots: [TrustedRoot]
    package let root: RootRole
    /// The bytes of ``timestamp``.
    ///
    /// It is the only file of a tree that is replaced, and only if it is unchanged since it was read.
    package let timestampBytes: [UInt8]
    package let timestamp: TimestampRole
    package let snapshot: SnapshotRole
    package let targets: TargetsRole
    package let dial: TargetsRole
    /// The delegation to the dial in `targets`.
    package let dialDelegation: Delegation
    package let channels: [ChannelName: Channel]

    /// Reads and verifies every role of the tree, from the root of trust given to `init`.
    package init(of tree: AppTree) throws(ServerError) {
        try self.init(of: tree, along: try RootChain(of: tree).roots[...], offered: nil)
    }

    /// The state of the tree before a newer root of trust is accepted, or after an interruption of that.
    ///
    /// Its roles are verified by the newest root of the chain under which all of them are valid. For a moment of every such update,
    /// the tree has a root whose keys have not signed its timestamp yet.
    /// - Parameter offered: replaces the targets role if the tree lost exactly these bytes.
    package init(of tree: AppTree, under chain: RootChain, offered: TrustUpload) throws(ServerError) {
        var first: ServerError?
        for last in chain.roots.indices.reversed() {
            do throws(ServerError) {
                try self.init(of: tree, along: chain.roots[...last], offered: offered.targets)
                return
            } catch { first = first ?? error }
        }
        guard let first else { preconditionFailure("a chain has at least one root") }
        throw first
    }

    /// - Parameters:
    ///   - roots: never empty; the newest one verifies the roles.
    ///   - offered: the targets role's bytes, in case the tree lost them.
    private init(of tree: AppTree, along roots: ArraySlice<TrustedRoot>, offered: [UInt8]?) throws(ServerError) {
        func walked(_ walk: MetadataWalk) throws(ServerError) -> TrustedRepository {
            try tree.walked(walk, offered: offered)
        }
        let newest = roots[roots.endIndex - 1]
        var repository = try walked(MetadataWalk(under: newest, .noRole(because: .signsAgain)))
        app = tree.app
        self.roots = Array(roots)
        root = newest.role
        (timestampBytes, timestamp) = (repository.timestamp.bytes, repository.timestamp.role)
        (snapshot, targets) = (repository.snapshot, repository.targets)
        guard let dialDelegation = targets.delegation(to: "dial") else {
            throw .tree(tree.app, .notDelegated(role: "dial"))
        }
        self.dialDelegation = dialDelegation
        var channels: [ChannelName: Channel] = [:]
        for delegation in targets.delegations {
            guard let channel = ChannelName(delegation.name), snapshot.files[ExactString(channel.text)] != nil else {
                continue
            }
            repository = try walked(MetadataWalk(in: repository, to: channel.text, by: "targets"))
            guard let role = repository.role(channel.text), let envelope = repository.envelope(of: channel.text) else {
                preconditionFailure("a walk ends at its role")
            }
            channels[channel] = Channel(role: role, envelope: envelope, identity: envelope.identity)
        }
        self.channels = channels
        repository = try walked(MetadataWalk(in: repository, to: "dial", by: "targets"))
        guard let dial = repository.role("dial") else { preconditionFailure("a walk ends at its role") }
        self.dial = dial
    }

    /// The channels in the root of trust, with or without a release.
    package var channelNames: [ChannelName] { targets.delegations.compactMap { ChannelName($0.name) }.sorted() }

    /// - Throws: `noChannel` for any other channel.
    package func check(_ channel: ChannelName) throws(ServerError) {
        guard channelNames.contains(channel) else { throw .noChannel(app, channel, known: channelNames) }
    }

    /// The channel role's version; 0 before the first release.
    package func version(of channel: ChannelName) -> Int {
        channels[channel]?.role.header.version ?? 0
    }
}

extension AppTree {
    /// Answers a walk from the tree.
    ///
    /// A server stores no other state.
    fileprivate func walked(_ start: MetadataWalk, offered: [UInt8]?) throws(ServerError) -> TrustedRepository {
        var walk = start
        while true {
            switch try mappingErrors({ () throws(TrustError) in try walk.next() }) {
            case .done(let repository): return repository
            case .recall: try mappingErrors { () throws(TrustError) in try walk.recall(nil) }
            case .fetch(let request):
                var bytes = request.answer(from: offered)
                if bytes == nil { bytes = try read(TreePath.File(request), limit: request.limit) }
                guard let bytes else { preconditionFailure("a file that cannot be read throws") }
                _ = try mappingErrors { () throws(TrustError) in try walk.take(bytes) }
            }
        }
    }

    private func mappingErrors<Value>(_ rule: () throws(TrustError) -> Value) throws(ServerError) -> Value {
        do throws(TrustError) { return try rule() } catch { throw .tree(app, error) }
    }
}

extension RoleRequest {
    /// The offered targets role, if it is the requested one.
    fileprivate func answer(from offered: [UInt8]?) -> [UInt8]? {
        guard let offered, case .role("targets", let file, _) = self,
            file == RoleFile(of: offered, version: file.version)
        else { return nil }
        return offered
    }
}
