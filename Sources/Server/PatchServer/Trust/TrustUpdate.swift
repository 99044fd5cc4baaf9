import PatchCrypto
import PatchFormat
import PatchTrust
import ReleaseFolder

/// The changes that a newer root of trust makes to a published tree, decided from values before anything is written.
struct TrustUpdate: Sendable {
    /// The facts from the disk that the decision needs.
    struct OnDisk: Sendable {
        /// The present digests of the files that may be written.
        let files: [TreePath.File: SHA256Digest]
        let labels: PublishedLabels
        /// The highest version of each channel that has a file and that a server reaches by itself.
        let channels: [ChannelName: Int]
        /// The highest version of each channel whose file was removed as garbage.
        var collected: [ChannelName: Int] = [:]

        func isUsed(_ role: String, version: Int, for bytes: [UInt8]) -> Bool {
            guard let found = files[.role(role, version: version)] else {
                return version <= ChannelName(role).flatMap { collected[$0] } ?? 0
            }
            return found != SHA256Digest(of: bytes)
        }
    }

    let keys: KeyChange
    /// Whether the tree has all of this already.
    let isCurrent: Bool
    /// The releases that become current together with the new root.
    let published: [VerifiedRelease]
    /// Channels that stay unchanged, with their versions.
    let carriedOver: [ChannelName: Int]
    /// Channels that are no longer published, with their last version, which readers forget.
    let dropped: [ChannelName: Int]
    /// Channels that this root of trust retires, with their last version, which the snapshot still names.
    let retired: [ChannelName: Int]
    let labels: PublishedLabels
    /// The rows of the next snapshot for the remaining roles and targets.
    let files: [String: RoleFile]

    /// - Parameters:
    ///   - trust: the newest root of a chain, and its targets role.
    ///   - state: the tree's state, verified by the newest root of that chain under which it is valid.
    ///   - releases: verified by the delegations of `trust`.
    ///   - accepted: channels that may be carried over with an older version.
    init(
        _ trust: RootOfTrust,
        over state: PublishedState,
        releases: [VerifiedRelease],
        carryingOver accepted: Set<ChannelName>,
        onDisk: OnDisk,
        at now: UTCTime
    ) throws(ServerError) {
        keys = KeyChange(from: state.root, to: trust.root)
        let targets = RoleFile(of: trust.targetsBytes, version: trust.targets.header.version)
        if let refusal = Self.refusal(of: targets, trust, state, onDisk, keys) { throw .trust(refusal) }
        for channel in state.targets.retired where trust.targets.delegation(to: channel.text) != nil {
            throw .trust(.channelRetired(channel))
        }

        var labels = onDisk.labels.published(in: state)
        var published: [VerifiedRelease] = []
        for release in releases {
            guard try Self.isNew(release, under: trust, state, onDisk, keys) else { continue }
            try Self.checkCurrent(release, at: now)
            labels = try labels.adding(release, recovering: Self.recovers(release, state, onDisk, keys))
            published.append(release)
        }
        let replaced = Set(published.map(\.release.header.channel.text))
        var files = ["targets": targets]
        var (carriedOver, dropped): ([ChannelName: Int], [ChannelName: Int]) = ([:], [:])
        var retired: [ChannelName: Int] = [:]
        for (name, file) in state.snapshot.files.sorted(by: { $0.key < $1.key })
        where !["targets", "dial"].contains(name.text) && !replaced.contains(name.text) {
            if !keys.restartsSnapshot, trust.targets.hasRetired(name.text), let channel = ChannelName(name.text) {
                // Readers reject a snapshot in which a role is missing (TUF 5.5.5).
                files[name.text] = file
                guard state.channels[channel] != nil else { continue }
                retired[channel] = file.version
                labels = labels.dropping(channel, at: file.version)
            } else if try Self.stays(name.text, under: trust, state, keys) {
                files[name.text] = file
                if let channel = ChannelName(name.text) { carriedOver[channel] = file.version }
            } else if let channel = ChannelName(name.text) {
                dropped[channel] = file.version
                labels = labels.dropping(channel, at: file.version)
            }
        }
        if keys.mayForgetRoles {
            let decided = accepted.union(releases.map(\.release.header.channel))
            try Self.checkNoRollback(under: trust, state, onDisk, except: decided)
        }
        isCurrent =
            published.isEmpty && dropped.isEmpty && retired.isEmpty && targets == state.snapshot.files["targets"]
            && trust.root.header.version == state.root.header.version
        self.published = published
        self.carriedOver = carriedOver
        self.dropped = dropped
        self.retired = retired
        self.labels = labels
        self.files = files
    }

    /// Whether a published channel stays published.
    func keeps(_ channel: ChannelName) -> Bool { dropped[channel] == nil && retired[channel] == nil }

    /// The refusal, unless it is the same targets role, a newer one, or any with an unused version when versions restart.
    private static func refusal(
        of targets: RoleFile,
        _ trust: RootOfTrust,
        _ state: PublishedState,
        _ onDisk: OnDisk,
        _ keys: KeyChange
    ) -> TrustRefusal? {
        let current = state.targets.header.version
        if targets == state.snapshot.files["targets"] { return nil }
        if targets.version == current { return .forked("targets", version: current) }
        if targets.version < current, !keys.restartsVersions {
            return .older("targets", offered: targets.version, current: current)
        }
        return onDisk.isUsed("targets", version: targets.version, for: trust.targetsBytes)
            ? .versionUsed("targets", version: targets.version) : nil
    }

    /// Whether a release changes its channel; compare-and-swap on its base unless versions restart.
    private static func isNew(
        _ release: VerifiedRelease,
        under trust: RootOfTrust,
        _ state: PublishedState,
        _ onDisk: OnDisk,
        _ keys: KeyChange
    ) throws(ServerError) -> Bool {
        let (channel, version) = (release.release.header.channel, release.role.header.version)
        let isUsed = onDisk.isUsed(channel.text, version: version, for: release.release.role.fileBytes)
        let current = state.channels[channel]
        if let current, current.role.header.version == version,
            current.identity == release.release.role.identity
        {
            guard isUsed, fault(of: current, by: trust.targets.delegation(to: channel.text)) != nil else {
                return false
            }
            throw .trust(.versionUsed(channel.text, version: version))
        }
        if !keys.restartsVersions {
            do throws(PublishConflict) {
                _ = try BaseComparison(release.release, in: state, labels: onDisk.labels)
            } catch { throw .conflict(error) }
        }
        if isUsed, recovers(release, state, onDisk, keys) { throw .trust(.versionUsed(channel.text, version: version)) }
        return true
    }

    /// Whether the release may have a version below the published one, after an attacker's release or a dropped channel.
    ///
    /// Readers forget the higher versions, and its version must be unused.
    private static func recovers(
        _ release: VerifiedRelease,
        _ state: PublishedState,
        _ onDisk: OnDisk,
        _ keys: KeyChange
    ) -> Bool {
        let channel = release.release.header.channel
        if keys.restartsVersions { return true }
        return state.channels[channel] == nil && release.role.header.version <= onDisk.labels.dropped[channel] ?? 0
    }

    private static func checkCurrent(_ release: VerifiedRelease, at now: UTCTime) throws(ServerError) {
        let (name, header) = (release.role.name, release.role.header)
        guard release.quorum.isComplete else {
            throw .release(.trust(.threshold(role: name, valid: release.quorum.valid, needed: release.quorum.needed)))
        }
        guard header.expires > now else {
            throw .release(.trust(.expired(role: name, expires: header.expires, at: now)))
        }
    }

    /// Whether a published role is carried over unchanged; false if it is dropped.
    private static func stays(
        _ name: String,
        under trust: RootOfTrust,
        _ state: PublishedState,
        _ keys: KeyChange
    ) throws(ServerError) -> Bool {
        guard let delegation = trust.targets.delegation(to: name) else {
            guard keys.restartsSnapshot else { throw .trust(.channelVanished(name)) }
            return false
        }
        guard let channel = ChannelName(name), let current = state.channels[channel] else {
            throw .trust(.untrusted(document: "\(name).json", .notDelegated(role: name)))
        }
        if let fault = fault(of: current, by: delegation) {
            throw .trust(.channelUntrusted(channel, version: current.role.header.version, fault))
        }
        return true
    }

    private static func fault(of channel: PublishedState.Channel, by delegation: Delegation?) -> TrustError? {
        guard let delegation else { return .notDelegated(role: channel.role.name) }
        do throws(TrustError) {
            try delegation.keys.check(channel.envelope, role: channel.role.name)
        } catch { return error }
        return channel.role.targets.keys.sorted().first { !delegation.covers($0.text) }.map {
            .outsideDelegation(role: channel.role.name, target: $0.text)
        }
    }
}

extension PublishedLabels {
    fileprivate func adding(_ release: VerifiedRelease, recovering: Bool) throws(ServerError) -> PublishedLabels {
        let (channel, version) = (release.release.header.channel, release.role.header.version)
        let known = recovering ? self.recovering(channel, at: version) : self
        do throws(EntryFault) {
            return try known.adding(release.list.entries, channel: channel, roleVersion: version)
        } catch { throw .release(.trust(.entry(error))) }
    }
}

/// The versions that readers forget when they follow from one root to another (TUF 5.3.11).
struct KeyChange: Equatable, Sendable {
    /// No key that could sign the old snapshot can sign the new one, so a role may be missing from it.
    let restartsSnapshot: Bool
    /// The snapshot and timestamp keys all changed, so every version that they sign may be lower.
    let restartsVersions: Bool
    /// A key that may have signed the old snapshot is removed.
    ///
    /// Readers who can no longer verify theirs forget its role versions, even if another key stays.
    let mayForgetRoles: Bool

    init(from old: RootRole, to new: RootRole) {
        restartsSnapshot = Self.isRotated("snapshot", old, new)
        mayForgetRoles = !old.keys(of: "snapshot").material.isSubset(of: new.keys(of: "snapshot").material)
        restartsVersions = restartsSnapshot && Self.isRotated("timestamp", old, new)
    }

    private static func isRotated(_ role: String, _ old: RootRole, _ new: RootRole) -> Bool {
        old.keys(of: role).material.isDisjoint(with: new.keys(of: role).material)
    }
}

extension RoleKeys {
    fileprivate var material: Set<PublicKey> { Set(keys.values.compactMap(\.publicKey)) }
}

extension TrustUpdate.OnDisk {
    /// The highest version of a channel that the server has seen, regardless of the tree.
    fileprivate func knownVersion(of channel: ChannelName) -> Int {
        max(channels[channel] ?? 0, labels.newestRole(of: channel))
    }
}

extension TrustUpdate {
    /// Checks that every channel still has its last version, for readers that forget it.
    ///
    /// If versions restart, the tree alone proves nothing: after an old timestamp was restored it still verifies, and readers would
    /// follow it to an older release. A dropped channel may be missing.
    ///
    /// - Parameter decided: channels with an explicit decision: a release was given, or the version was accepted.
    static func checkNoRollback(
        under trust: RootOfTrust,
        _ state: PublishedState,
        _ onDisk: OnDisk,
        except decided: Set<ChannelName>
    ) throws(ServerError) {
        for delegation in trust.targets.delegations {
            guard let channel = ChannelName(delegation.name), !decided.contains(channel) else { continue }
            let (version, known) = (state.version(of: channel), onDisk.knownVersion(of: channel))
            if version == 0, known <= onDisk.labels.dropped[channel] ?? 0 { continue }
            guard version >= known else {
                throw .trust(.channelRollback(channel, version: version, known: known))
            }
        }
    }
}
