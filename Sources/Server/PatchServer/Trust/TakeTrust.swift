package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// Accepts a newer root of trust, and with it the releases that it needs, as one publication.
///
/// The caller holds the lock. The steps are in this order, each durable before the next:
///
/// 1. objects and targets of the releases, the new targets role, the releases' roles, dial and snapshot: all under unreferenced
///    names
/// 2. the server's own records: the online key and the labels
/// 3. the roots, oldest first; from then on readers of the new root reject the old timestamp and keep their files
/// 4. the timestamp: readers see the new state
///
/// If the old root's keys also signed the new targets, and the online key stays, 4 precedes 3: readers of the old and the new root
/// can then update at any moment.
///
/// After an interruption, the same call finishes: correct files are kept. After an interruption in 2 or 3, the server can sign
/// nothing else until then.
package struct TakeTrust: Sendable {
    private let offered: TrustUpload
    private let repository: AppRepository
    private let key: OnlineKey
    private let releases: [SignedRelease]
    private let accepted: Set<ChannelName>
    private let now: UTCTime

    /// - Parameters:
    ///   - key: the online key that the new root lists; its file replaces the present one unchanged.
    ///   - releases: one for each channel whose published release does not verify under the new root; others are allowed.
    ///   - accepted: channels whose version in the tree may be older than one that the server has seen.
    package init(
        _ offered: TrustUpload,
        in repository: AppRepository,
        onlineKey key: OnlineKey,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = [],
        at now: UTCTime
    ) {
        (self.offered, self.repository, self.key) = (offered, repository, key)
        (self.releases, self.accepted, self.now) = (releases, accepted, now)
    }

    /// - Throws: any error but `file` before the first write.
    package func run() throws(ServerError) -> TrustOutcome {
        let facts = try read()
        let update = try decide(facts)
        try repository.checkSize(of: update.labels)
        var plan = PublicationPlan(taking: facts.trust, facts.chain, key: key, releases: facts.releases, facts.rootStep)
        guard !update.isCurrent || facts.chain.publishedVersion != facts.chain.newest.version else {
            let change = try WriteTree(plan, in: repository, over: facts.state).run()
            return .alreadyCurrent(
                root: facts.chain.newest.version,
                targets: facts.trust.targets.header.version,
                change
            )
        }
        let fresh = try fresh(facts, update)
        try plan.publish(update, on: facts.state, fresh)
        let dials = carriedDials(facts, update)
        let parameters = carriedParameters(facts, update)
        let change = try WriteTree(plan, in: repository, over: facts.state).run()
        for release in update.published {
            _ = try repository.tree.removeDrafts(
                of: release.release.header.channel,
                upTo: release.role.header.version
            )
        }
        return .updated(
            TrustPublication(
                root: facts.chain.newest.version,
                previousRoot: facts.chain.publishedVersion,
                targets: facts.trust.targets.header.version,
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
                roles: RefreshedVersions(app: repository.app, fresh.next, signedAt: now)
            )
        )
    }

    private struct Facts {
        let chain: RootChain
        let trust: RootOfTrust
        let state: PublishedState
        let releases: [VerifiedRelease]
        let used: UsedVersions

        var rootStep: PublicationPlan.Step {
            chain.handsOver(trust.targetsBytes, from: state.root) ? .lateRoots : .roots
        }
    }

    private func read() throws(ServerError) -> Facts {
        let new = try OfferedTrust(offered, to: repository, at: now)
        let state = try PublishedState(of: repository.tree, under: new.chain, offered: offered)
        try checkKey(for: new.trust, instead: state.root)
        return Facts(
            chain: new.chain,
            trust: new.trust,
            state: state,
            releases: try verified(under: new.trust),
            used: try repository.tree.usedVersions()
        )
    }

    private func decide(_ facts: Facts) throws(ServerError) -> TrustUpdate {
        let onDisk = TrustUpdate.OnDisk(
            files: try digests(facts),
            labels: try repository.labels(),
            channels: facts.used.channels,
            collected: facts.used.collected
        )
        return try TrustUpdate(
            facts.trust,
            over: facts.state,
            releases: facts.releases,
            carryingOver: accepted,
            onDisk: onDisk,
            at: now
        )
    }

    private func fresh(_ facts: Facts, _ update: TrustUpdate) throws(ServerError) -> FreshRoles {
        let restarts = update.keys.restartsVersions
        let versions = try facts.state.nextVersions(unused: facts.used, restarting: restarts)
        // A new online key restarts the versions after a theft: the attacker's own time proves nothing.
        let signedAt = restarts ? nil : facts.state.timestamp.signedAt
        let signingTime = try repository.folder.signingTime(after: signedAt, at: now)
        return FreshRoles(signers: facts.trust.signers(key), next: versions, now: signingTime)
    }

    /// An unreadable dial must not block new keys.
    private func carriedDials(_ facts: Facts, _ update: TrustUpdate) -> [TrustPublication.CarriedDial] {
        facts.state.channels.keys.filter { update.keeps($0) }.sorted().compactMap { channel in
            let rows = try? repository.dial(of: channel, in: facts.state).rows
            return rows?.isEmpty == true ? nil : TrustPublication.CarriedDial(channel: channel, rows: rows)
        }
    }

    private func carriedParameters(_ facts: Facts, _ update: TrustUpdate) -> [TrustPublication.CarriedParameters] {
        facts.state.channels.keys.filter { update.keeps($0) }.sorted().compactMap { channel in
            let count = try? repository.parameters(of: channel, in: facts.state).values.count
            return count == 0 ? nil : TrustPublication.CarriedParameters(channel: channel, count: count)
        }
    }

    private func checkKey(for trust: RootOfTrust, instead old: RootRole) throws(ServerError) {
        try repository.refuseTestingKey(key.publicKey, of: "online key")
        // A key that stays is not rejected: apps that shared one earlier must be able to change it.
        if old.keys(of: "timestamp").entry(of: key.publicKey) == nil { try repository.refuseSharedKey(key.publicKey) }
        do throws(ServerError) {
            try key.check(root: trust.root, targets: trust.targets)
        } catch .notOnlineKey(_, nil) where old.keys(of: "timestamp").entry(of: key.publicKey) != nil {
            throw .trust(.otherOnlineKey)
        }
    }

    private func verified(under trust: RootOfTrust) throws(ServerError) -> [VerifiedRelease] {
        var verified: [VerifiedRelease] = []
        for release in releases {
            try release.check(isOf: repository.app)
            let channel = release.header.channel
            guard !verified.contains(where: { $0.release.header.channel == channel }) else {
                throw .trust(.twoReleases(channel))
            }
            guard let delegation = trust.targets.delegation(to: channel.text) else {
                throw .release(.trust(.notDelegated(role: channel.text)))
            }
            verified.append(try VerifyRelease.verified(release, by: delegation, in: repository))
        }
        return verified
    }

    private func digests(_ facts: Facts) throws(ServerError) -> [TreePath.File: SHA256Digest] {
        var files = [TreePath.File.role("targets", version: facts.trust.targets.header.version)]
        files += facts.releases.map { .role($0.role.name, version: $0.role.header.version) }
        var digests: [TreePath.File: SHA256Digest] = [:]
        for file in files { digests[file] = try repository.tree.digest(of: file) }
        return digests
    }
}

extension PublicationPlan {
    /// Adds the root of trust and its releases; none of it is current before ``publish(_:on:_:)``.
    fileprivate init(
        taking trust: RootOfTrust,
        _ chain: RootChain,
        key: OnlineKey,
        releases: [VerifiedRelease],
        _ step: Step
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
