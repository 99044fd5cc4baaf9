package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder
import SystemPackage

/// The outcome of offering a release.
package enum PublishOutcome: Equatable, Sendable {
    case published(Publication)
    /// Kept until more key holders have signed.
    case drafted(channel: ChannelName, version: Int, quorum: VerifiedRelease.SignatureTally)
    /// It is the channel's current release already; missing or damaged files were put back.
    case alreadyPublished(channel: ChannelName, version: Int, TreeChange)
}

/// A release that devices see from now on.
package struct Publication: Equatable, Sendable {
    package let channel: ChannelName
    package let version: Int
    package let counts: VerifiedRelease.Counts
    package let change: TreeChange
    package let roles: RefreshedVersions
    /// Versions of drafts that this release superseded, its own among them.
    package let removedDrafts: [Int]
    /// Versions whose rollout this release sets.
    package let started: [StartedVersion]
    /// Other versions, which the dial holds below this release's ceiling.
    package let heldBack: [DialState.Version]
    /// Versions that the dial no longer restricts.
    package let lapses: [DialLapse]
    /// Of what clients in development mode get nothing now (J2).
    package let developersWait: [DevelopersStanding]
    /// Roles that end soon, or before the release.
    package let endings: [ReleaseExpiry.Warning]
    /// Packs that were not kept, because they save too little for the room that they take.
    package var leftOutPacks: [LeftOutPack] = []
    /// Whether smaller forms and packs are still to be made.
    package var awaitsForms = false
    /// Derived files that no device needs any more.
    package var removedForms = RemovedForms.nothing
}

extension AppRepository {
    /// Verifies a release and publishes it, or keeps it as a draft.
    ///
    /// The caller holds the lock. Any error but `file` means that nothing on disk has changed.
    ///
    /// - Parameters:
    ///   - known: the result of ``verified(_:)`` from before the lock; parts of it that still hold are not checked again.
    ///   - compressed: the result of ``compress(_:)`` on the same, from before the lock.
    ///   - rollout: How the versions that it lists newly begin. Devices see the release and its dial together.
    package func publish(
        _ offered: SignedRelease,
        verified known: VerifiedRelease? = nil,
        compressed forms: CompressedForms = .none,
        rollout: ReleaseRollout = .none,
        signing key: OnlineKey,
        at now: UTCTime
    ) throws(ServerError) -> PublishOutcome {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        let labels = try labels()
        let comparison = try comparison(of: offered, in: state, labels: labels)
        let release = try merged(offered, comparison: comparison, in: state)
        let verified =
            if let still = try again(known, release, in: state) { still } else { try verify(release, in: state) }
        try checkNumber(of: verified, in: state, labels: labels)
        let decision: Publishing
        do throws(TrustError) {
            decision = try Publishing(verified, comparison: comparison, state: state, labels: labels, now: now)
        } catch .entry(let fault) where fault.rule == .republished {
            throw .republished(fault, difference: try difference(of: fault.entry, in: verified, from: labels))
        } catch { throw .release(.trust(error)) }
        return try carryOut(decision, verified, forms, rollout, state, knowing: labels, key, now)
    }

    /// Verifies a release as ``publish(_:verified:compressed:rollout:signing:at:)`` does, and changes nothing.
    ///
    /// It needs no lock, so that no publish waits for a release that takes long to read and may lack a quorum.
    package func verified(_ offered: SignedRelease) throws(ServerError) -> VerifiedRelease {
        let state = try PublishedState(of: self)
        let comparison = try comparison(of: offered, in: state, labels: try labels())
        return try verify(try merged(offered, comparison: comparison, in: state), in: state)
    }

    /// The earlier result, if it still holds: nil when keys or content differ, or an object that the tree had was
    /// collected.
    private func again(
        _ known: VerifiedRelease?,
        _ release: SignedRelease,
        in state: PublishedState
    ) throws(ServerError) -> VerifiedRelease? {
        let delegation = try delegation(of: release.header.channel, in: state)
        guard let known = known?.counting(release, by: delegation) else { return nil }
        for object in known.contents where release.objects[object] == nil {
            guard try storage.status(of: .object(object)) != nil else { return nil }
        }
        return known
    }

    private func comparison(
        of release: SignedRelease,
        in state: PublishedState,
        labels: PublishedLabels
    ) throws(ServerError) -> BaseComparison {
        try checkApp(of: release)
        let restored = try tree.versionRecord().restored
        do throws(PublishConflict) {
            return try BaseComparison(release, in: state, labels: labels, restored: restored)
        } catch {
            throw .conflict(error)
        }
    }

    /// A channel that was dropped and comes back may be based on any version, but its number must be unused.
    private func checkNumber(
        of verified: VerifiedRelease,
        in state: PublishedState,
        labels: PublishedLabels
    ) throws(ServerError) {
        let (channel, version) = (verified.release.header.channel, verified.role.header.version)
        guard state.channels[channel] == nil, let last = labels.dropped[channel], version <= last else { return }
        if let digest = try tree.digest(of: .role(channel.text, version: version)) {
            guard digest != SHA256Digest(of: verified.release.role.fileBytes) else { return }
        } else {
            guard version <= (try tree.versionRecord().collected[channel]) ?? 0 else { return }
        }
        throw .conflict(.versionUsed(channel: channel, version: version))
    }

    func checkApp(of release: SignedRelease) throws(ServerError) {
        guard release.header.app == app else {
            let found = release.header.app.text
            throw .release(.trust(.foreign(document: "release.json", field: "app", found: found, expected: app.text)))
        }
    }

    /// The release with the valid signatures of its own and of a draft of the same content.
    private func merged(
        _ offered: SignedRelease,
        comparison: BaseComparison,
        in state: PublishedState
    ) throws(ServerError) -> SignedRelease {
        let keys = try delegation(of: offered.header.channel, in: state).keys
        var signatures = keys.countingSignatures(on: offered.role)
        let unsigned = Envelope(role: offered.role.role, signing: offered.role.signed)
        var release = SignedRelease(
            header: offered.header,
            role: unsigned,
            targets: offered.targets,
            objects: offered.objects
        )
        if comparison == .next,
            let draft = try tree.draft(of: offered.header.channel, version: offered.header.roleVersion)
        {
            let identity = unsigned.identity
            if draft.identity == identity {
                signatures = keys.countingSignatures(on: draft.release.role) + signatures
            } else if signatures.count < keys.threshold {
                throw .conflict(
                    .otherDraft(channel: draft.channel, version: draft.version, kept: draft.identity, offered: identity)
                )
            }
        }
        release.merge(signatures)
        return release
    }

    private func verify(_ release: SignedRelease, in state: PublishedState) throws(ServerError) -> VerifiedRelease {
        try verify(release, by: try delegation(of: release.header.channel, in: state))
    }

    func verify(_ release: SignedRelease, by delegation: Delegation) throws(ServerError) -> VerifiedRelease {
        try refuseTestingKeys(of: release.header.channel.text, delegation.keys)
        let verified: VerifiedRelease
        do throws(ReleaseError) {
            verified = try VerifiedRelease(
                release,
                delegation: delegation,
                files: files,
                elsewhere: { digest in try? storage.open(.object(digest), limit: Limits.object) },
                progress: { progress(.verifying, $0) }
            )
        } catch { throw .release(error) }
        try refuseTestingKeys(verified.role.entryKeys, of: "entry key of \(verified.role.name)")
        return verified
    }

    private func delegation(of channel: ChannelName, in state: PublishedState) throws(ServerError) -> Delegation {
        guard let delegation = state.targets.delegation(to: channel.text) else {
            throw .release(.trust(.notDelegated(role: channel.text)))
        }
        return delegation
    }

    func labels() throws(ServerError) -> PublishedLabels {
        let bytes = try tree.read(tree.labelsFile, limit: labelsLimit)
        do throws(FormatError) { return try PublishedLabels(bytes) } catch { throw .record(app, error) }
    }

    /// Refuses records too large to be read again: nothing could be published or taken in after them.
    func checkSize(of labels: PublishedLabels) throws(ServerError) {
        let size = labels.fileBytes.count
        guard size <= labelsLimit else { throw .labelsFull(app, size: size, limit: labelsLimit) }
    }

    private func carryOut(
        _ decision: Publishing,
        _ verified: VerifiedRelease,
        _ forms: CompressedForms,
        _ rollout: ReleaseRollout,
        _ state: PublishedState,
        knowing known: PublishedLabels,
        _ key: OnlineKey,
        _ now: UTCTime
    ) throws(ServerError) -> PublishOutcome {
        let (channel, version) = (verified.release.header.channel, verified.role.header.version)
        switch decision {
        case .keepDraft:
            try tree.keep(verified.release, rollout: rollout.wish)
            return .drafted(channel: channel, version: version, quorum: verified.quorum)
        case .repair:
            var plan = PublicationPlan()
            plan.add(contentsOf: verified)
            plan.add(forms)
            let change = try carryOut(plan, over: state)
            _ = try tree.removeDrafts(of: channel, upTo: version)
            return .alreadyPublished(channel: channel, version: version, change)
        case .publish(let labels):
            try checkSize(of: labels)
            let fresh = try freshRoles(over: state, signing: key, at: now)
            let entries = verified.list.entries
            let started = try starts(of: verified, by: rollout, in: state, knowing: known)
            let dial = try currentDial(of: channel, isNeeded: !started.isEmpty, in: state)
            let next = Dial.next(after: dial, starting: started, of: entries, in: channel, of: app)
            if let next { try checkSize(of: next) }
            let before = listed(in: channel, state)
            var plan = PublicationPlan()
            let versions = try plan.publish(verified, on: state, dial: next, labels: labels, fresh: fresh)
            plan.add(forms)
            if forms.awaitsOthers {
                var record = tree.optimizationRecord
                record.add(PendingOptimization(channel, version))
                plan.write(record.fileBytes, to: .record(OptimizationRecord.name), in: .records)
            }
            let change = try carryOut(plan, over: state)
            let removed = try tree.removeDrafts(of: channel, upTo: version)
            let roles = RefreshedVersions(app: app, versions, signedAt: now)
            let turned = (next ?? dial?.keeping(entries)).map { DialState($0, version: versions.dial, of: entries) }
            let old = dial.flatMap { dial in before.map { DialState(dial, version: state.dial.header.version, of: $0) }
            }
            var lapses: [DialLapse] = []
            if let old, let turned {
                lapses = DialLapse.all(from: old, to: turned) { label in
                    known.rows[label]?.channel == channel || started.contains { $0.label == label }
                }
            }
            // It is published: whatever is damaged in another channel is for `check` to say.
            let developers = (try? developers(since: channel, over: state)) ?? []
            return .published(
                Publication(
                    channel: channel,
                    version: version,
                    counts: verified.counts,
                    change: change,
                    roles: roles,
                    removedDrafts: removed,
                    started: started,
                    heldBack: (turned?.versions ?? []).filter { version in
                        version.isHeldBack && !started.contains { $0.sha256 == version.sha256 }
                    },
                    lapses: lapses,
                    developersWait: developers.filter { $0.taken != nil },
                    endings: ReleaseExpiry(
                        release: ReleaseExpiry.Role(channel.text, expires: verified.role.header.expires),
                        root: state.root.header.expires,
                        targets: state.targets.header.expires
                    ).warnings(at: now),
                    leftOutPacks: forms.leftOut.sorted { $0.words < $1.words },
                    awaitsForms: forms.awaitsOthers
                )
            )
        }
    }
}
