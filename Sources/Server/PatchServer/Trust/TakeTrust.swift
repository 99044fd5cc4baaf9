package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// The outcome of taking in a newer root of trust.
package enum TrustOutcome: Equatable, Sendable {
    case updated(TrustPublication)
    /// The tree has all of it already; missing or damaged files were put back.
    case alreadyCurrent(root: Int, targets: Int, TreeChange)
}

/// A root of trust that devices follow to from now on.
package struct TrustPublication: Equatable, Sendable {
    package struct ChannelChange: Hashable, Sendable, CustomStringConvertible {
        package let channel: ChannelName
        package let version: Int

        package var description: String { "\(channel) \(version)" }
    }

    /// A dial that the online key before signed, and that the one now signs as it is.
    package struct CarriedDial: Equatable, Sendable {
        package let channel: ChannelName
        /// Nil where it cannot be read; readers refuse it too.
        package let rows: [Dial.Row]?

        package var paused: Int? { rows?.count(where: \.paused) }
    }

    /// Online parameters that the online key before signed, and that the one now signs as they are.
    package struct CarriedParameters: Equatable, Sendable {
        package let channel: ChannelName
        /// How many; nil where they cannot be read.
        package let count: Int?
    }

    package let root: Int
    /// The newest root in the tree before.
    package let previousRoot: Int
    package let targets: Int
    /// Whether readers forget the versions of roles that they know.
    package let restartsVersions: Bool
    package let published: [ChannelChange]
    /// Channels that stay published as they were.
    package let carriedOver: [ChannelChange]
    /// Dials with rows of channels that were published before; a thief of the online key may have made them.
    package let carriedDials: [CarriedDial]
    /// Parameters of the same channels, if they have any.
    package let carriedParameters: [CarriedParameters]
    package let dropped: [ChannelChange]
    /// Channels that have ended, with their last version.
    package let retired: [ChannelChange]
    package let change: TreeChange
    package let roles: RefreshedVersions

    fileprivate static func changes(_ versions: [ChannelName: Int]) -> [ChannelChange] {
        versions.sorted { $0.key < $1.key }.map { ChannelChange(channel: $0.key, version: $0.value) }
    }
}

extension AppRepository {
    /// Takes in a newer root of trust, and with it the releases that it needs, as one publication.
    ///
    /// The caller holds the lock. The steps are in this order, each durable before the next:
    ///
    /// 1. objects and targets of the releases, the new targets role, the releases' roles, dial and snapshot: all under
    ///    names that nothing refers to yet
    /// 2. the server's own records: the online key and the labels
    /// 3. the roots, oldest first; from here readers of the new root refuse the old timestamp and keep what they have
    /// 4. the timestamp: readers see the new state
    ///
    /// Where the new targets are signed by the old root's keys too, and the online key stays, 4 comes before 3: readers of
    /// the old root and of the new one take what they find at any moment.
    ///
    /// Interrupted anywhere, the same call finishes: correct files are left alone. Interrupted in 2 or 3, the server
    /// can sign nothing else until then.
    ///
    /// - Parameters:
    ///   - key: the online key that the new root lists; its file replaces the present one as it is.
    ///   - releases: one for each channel whose published release does not verify under the new root, and any other.
    ///   - accepted: channels whose version in the tree may be older than one that the server has seen.
    /// - Throws: any error but `file` before the first write.
    package func take(
        _ offered: TrustUpload,
        onlineKey key: OnlineKey,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = [],
        at now: UTCTime
    ) throws(ServerError) -> TrustOutcome {
        let (chain, trust) = try check(offered, at: now)
        let root = chain.newest
        let state = try PublishedState(of: tree, under: chain, offered: offered)
        try check(key, for: trust, instead: state.root)
        let verified = try verify(releases, under: trust)
        let used = try tree.usedVersions()
        let onDisk = TrustUpdate.OnDisk(
            files: try digests(of: trust, verified),
            labels: try labels(),
            channels: used.channels,
            collected: used.collected
        )
        let update = try TrustUpdate(
            trust,
            over: state,
            releases: verified,
            carryingOver: accepted,
            onDisk: onDisk,
            at: now
        )
        try checkSize(of: update.labels)

        let rootStep: PublicationPlan.Step = chain.handsOver(trust.targetsBytes, from: state.root) ? .lateRoots : .roots
        var plan = PublicationPlan(taking: trust, chain, key: key, releases: verified, rootsIn: rootStep)
        if update.isCurrent, chain.publishedVersion == root.version {
            let change = try WriteTree(plan, in: self, over: state).run()
            return .alreadyCurrent(root: root.version, targets: trust.targets.header.version, change)
        }
        let versions = try state.nextVersions(
            unused: used,
            restarting: update.keys.restartsVersions
        )
        // A new online key starts the versions again after a theft: the thief's own time proves nothing.
        let signedAt = update.keys.restartsVersions ? nil : state.timestamp.signedAt
        let signingTime = try folder.signingTime(after: signedAt, at: now)
        try plan.publish(update, on: state, FreshRoles(signers: trust.signers(key), next: versions, now: signingTime))
        let dials = carriedDials(update, state)
        let parameters = carriedParameters(update, state)
        let change = try WriteTree(plan, in: self, over: state).run()
        for release in update.published {
            _ = try tree.removeDrafts(of: release.release.header.channel, upTo: release.role.header.version)
        }
        return .updated(
            TrustPublication(
                root: root.version,
                previousRoot: chain.publishedVersion,
                targets: trust.targets.header.version,
                restartsVersions: update.keys.restartsVersions,
                published: update.published.map {
                    .init(channel: $0.release.header.channel, version: $0.role.header.version)
                },
                carriedOver: TrustPublication.changes(update.carriedOver),
                carriedDials: dials,
                carriedParameters: parameters,
                dropped: TrustPublication.changes(update.dropped),
                retired: TrustPublication.changes(update.retired),
                change: change,
                roles: RefreshedVersions(app: app, versions, signedAt: now)
            )
        )
    }

    /// Checks whether devices would follow an offered root of trust, before anything uploaded with it is read.
    ///
    /// Reading needs no lock; taking the root in checks again.
    package func checkRoots(of offered: TrustUpload, at now: UTCTime) throws(ServerError) {
        _ = try check(offered, at: now)
    }

    /// Refuses a root that lists none of the earlier online keys, when the server's own is encrypted.
    ///
    /// Otherwise an operator would be asked for the passphrase of a key that is no longer listed.
    package func checkOnlineKeyStays(under offered: TrustUpload, at now: UTCTime) throws(ServerError) {
        guard OnlineKey.isEncrypted(try tree.read(onlineKeyFile, limit: Limits.keyFile)) else { return }
        let (chain, trust) = try check(offered, at: now)
        let old = try PublishedState(of: tree, under: chain, offered: offered).root.keys(of: "timestamp").keys.keys
        guard !Set(old).isDisjoint(with: trust.root.keys(of: "timestamp").keys.keys) else {
            throw .trust(.otherOnlineKey)
        }
    }

    private func check(_ offered: TrustUpload, at now: UTCTime) throws(ServerError) -> (RootChain, RootOfTrust) {
        guard offered.app == app else { throw .trust(.otherApp(found: offered.app, expected: app)) }
        let chain = try RootChain(of: tree, continuedBy: offered)
        let root = chain.newest
        let trust = try RootOfTrust(servedUnder: root, targets: offered.targets, at: now)
        try refuseTestingKeys(in: trust)
        return (chain, trust)
    }

    /// An unreadable dial must not block new keys.
    private func carriedDials(_ update: TrustUpdate, _ state: PublishedState) -> [TrustPublication.CarriedDial] {
        state.channels.keys.filter { update.keeps($0) }.sorted().compactMap { channel in
            let rows = try? dial(of: channel, in: state).rows
            return rows?.isEmpty == true ? nil : TrustPublication.CarriedDial(channel: channel, rows: rows)
        }
    }

    private func carriedParameters(
        _ update: TrustUpdate,
        _ state: PublishedState
    ) -> [TrustPublication.CarriedParameters] {
        state.channels.keys.filter { update.keeps($0) }.sorted().compactMap { channel in
            let count = try? parameters(of: channel, in: state).values.count
            return count == 0 ? nil : TrustPublication.CarriedParameters(channel: channel, count: count)
        }
    }

    private func check(_ key: OnlineKey, for trust: RootOfTrust, instead old: RootRole) throws(ServerError) {
        try refuseTestingKey(key.publicKey, of: "online key")
        // A key that stays is not refused: apps that shared one before must be able to change it.
        if old.keys(of: "timestamp").entry(of: key.publicKey) == nil { try refuseSharedKey(key.publicKey) }
        do throws(ServerError) {
            try key.check(root: trust.root, targets: trust.targets)
        } catch .notOnlineKey(_, nil) where old.keys(of: "timestamp").entry(of: key.publicKey) != nil {
            throw .trust(.otherOnlineKey)
        }
    }

    private func verify(_ releases: [SignedRelease], under trust: RootOfTrust) throws(ServerError) -> [VerifiedRelease]
    {
        var verified: [VerifiedRelease] = []
        for release in releases {
            try release.check(isOf: app)
            let channel = release.header.channel
            guard !verified.contains(where: { $0.release.header.channel == channel }) else {
                throw .trust(.twoReleases(channel))
            }
            guard let delegation = trust.targets.delegation(to: channel.text) else {
                throw .release(.trust(.notDelegated(role: channel.text)))
            }
            verified.append(try VerifyRelease.verified(release, by: delegation, in: self))
        }
        return verified
    }

    private func digests(
        of trust: RootOfTrust,
        _ releases: [VerifiedRelease]
    ) throws(ServerError) -> [TreePath.File: SHA256Digest] {
        var files = [TreePath.File.role("targets", version: trust.targets.header.version)]
        files += releases.map { .role($0.role.name, version: $0.role.header.version) }
        var digests: [TreePath.File: SHA256Digest] = [:]
        for file in files { digests[file] = try tree.digest(of: file) }
        return digests
    }
}

extension RootChain {
    /// Whether targets pass from one root's keys to a later root's without a gap: every root from `old` on accepts
    /// them, and all of them accept the same snapshot and timestamp.
    fileprivate func handsOver(_ targets: [UInt8], from old: RootRole) -> Bool {
        guard let envelope = try? Envelope(targets, role: "targets", limit: Limits.targetsRole) else { return false }
        let later = roots.map(\.role).filter { $0.header.version >= old.header.version }
        guard newest.role.keys(of: "targets") != old.keys(of: "targets") else { return false }
        return later.allSatisfy { root in
            let keys = root.keys(of: "targets")
            return keys.validSignatures(on: envelope) >= keys.threshold
                && ["snapshot", "timestamp"].allSatisfy { root.keys(of: $0) == old.keys(of: $0) }
        }
    }
}

extension RootOfTrust {
    /// - Precondition: the key was checked against it.
    func signers(_ key: OnlineKey) -> FreshRoles.Signers {
        guard let dial = targets.delegation(to: "dial") else { preconditionFailure("the key was checked against it") }
        return FreshRoles.Signers(key: key, root: root, dial: dial.keys)
    }
}

extension PublicationPlan {
    /// The root of trust and the releases that come with it; none of it is current before ``publish(_:on:_:)``.
    fileprivate init(
        taking trust: RootOfTrust,
        _ chain: RootChain,
        key: OnlineKey,
        releases: [VerifiedRelease],
        rootsIn step: Step
    ) {
        self.init()
        for release in releases { add(contentsOf: release) }
        let targets = TreePath.File.role("targets", version: trust.targets.header.version)
        write(trust.targetsBytes, to: .tree(targets), in: .targets)
        write(key.pem, to: .record("online.key"), in: .records)
        for root in chain.roots { write(root.bytes, to: .tree(.root(version: root.version)), in: step) }
    }

    /// Makes it current.
    fileprivate mutating func publish(
        _ update: TrustUpdate,
        on state: PublishedState,
        _ fresh: FreshRoles
    ) throws(ServerError) {
        let gone = Set(
            (Array(update.dropped.keys) + update.retired.keys).flatMap { [TargetPath.dial($0), .parameters($0)] }
        )
        var dials = try state.dials().filter { !gone.contains($0.key) }
        var files = update.files
        for release in update.published { add(role: release, to: &files, dials: &dials) }
        write(update.labels.fileBytes, to: .record("labels.json"), in: .records)
        _ = try fresh.add(to: &self, dials: dials, files: files)
    }
}
