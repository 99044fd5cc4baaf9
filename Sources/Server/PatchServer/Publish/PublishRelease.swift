import Gateways
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// Verifies a release and publishes it, or stores it as a draft.
///
/// The caller holds the lock. After any error but `file`, the disk is unchanged.
package struct PublishRelease: Sendable {
    private let offered: SignedRelease
    private let repository: AppRepository
    private let known: VerifiedRelease?
    private let forms: CompressedForms
    private let rollout: ReleaseRollout
    private let key: OnlineKey
    private let now: UTCTime

    /// - Parameters:
    ///   - known: the result of ``VerifyRelease`` from before the lock; parts of it that are still valid are not checked again.
    ///   - forms: the result of ``CompressForms`` for that result, from before the lock.
    ///   - rollout: How the newly listed versions begin. Devices see the release and its dial together.
    package init(
        _ offered: SignedRelease,
        in repository: AppRepository,
        verified known: VerifiedRelease? = nil,
        compressed forms: CompressedForms = .none,
        rollout: ReleaseRollout = .none,
        signing key: OnlineKey,
        at now: UTCTime
    ) {
        (self.offered, self.repository, self.known) = (offered, repository, known)
        (self.forms, self.rollout, self.key, self.now) = (forms, rollout, key, now)
    }

    package func run() throws(ServerError) -> PublishOutcome {
        let facts = try read()
        switch try decide(facts) {
        case .keepDraft: return try keepDraft(facts)
        case .repair: return try repair(facts)
        case .publish(let labels): return .published(try publish(facts, labels))
        }
    }

    private struct Facts {
        let state: PublishedState
        let labels: PublishedLabels
        let comparison: BaseComparison
        let verified: VerifiedRelease

        var channel: ChannelName { verified.release.header.channel }
        var version: Int { verified.role.header.version }
    }

    private func read() throws(ServerError) -> Facts {
        let state = try PublishedState(of: repository)
        try repository.checkOnlineKey(key, in: state)
        let verifying = VerifyRelease(offered, in: repository)
        let offer = try verifying.facts(in: state)
        let facts = Facts(
            state: state,
            labels: offer.labels,
            comparison: offer.comparison,
            verified: try verifying.verify(offer, knowing: known)
        )
        try checkNumber(of: facts)
        return facts
    }

    /// A channel that was dropped and is published again may have any base, but its version must be unused.
    private func checkNumber(of facts: Facts) throws(ServerError) {
        let (channel, version, tree) = (facts.channel, facts.version, repository.tree)
        guard facts.state.channels[channel] == nil, let last = facts.labels.dropped[channel], version <= last else {
            return
        }
        if let digest = try tree.digest(of: .role(channel.text, version: version)) {
            guard digest != SHA256Digest(of: facts.verified.release.role.fileBytes) else { return }
        } else {
            guard version <= (try tree.versionRecord().collected[channel]) ?? 0 else { return }
        }
        throw .conflict(.versionUsed(channel: channel, version: version))
    }

    private func decide(_ facts: Facts) throws(ServerError) -> Publishing {
        do throws(TrustError) {
            return try Publishing(
                facts.verified,
                comparison: facts.comparison,
                state: facts.state,
                labels: facts.labels,
                now: now
            )
        } catch .entry(let fault) where fault.rule == .republished {
            let difference = LabelDifference(
                of: fault.entry,
                in: facts.verified,
                from: facts.labels,
                repository.storage
            )
            throw .republished(fault, difference: difference.words)
        } catch { throw .release(.trust(error)) }
    }

    private func keepDraft(_ facts: Facts) throws(ServerError) -> PublishOutcome {
        try repository.tree.keep(facts.verified.release, rollout: rollout.wish)
        return .drafted(channel: facts.channel, version: facts.version, quorum: facts.verified.quorum)
    }

    private func repair(_ facts: Facts) throws(ServerError) -> PublishOutcome {
        var plan = PublicationPlan()
        plan.add(contentsOf: facts.verified)
        plan.add(forms)
        let change = try WriteTree(plan, in: repository, over: facts.state).run()
        _ = try repository.tree.removeDrafts(of: facts.channel, upTo: facts.version)
        return .alreadyPublished(channel: facts.channel, version: facts.version, change)
    }

    private func publish(_ facts: Facts, _ labels: PublishedLabels) throws(ServerError) -> Publication {
        try repository.checkSize(of: labels)
        let fresh = try FreshRoles(over: facts.state, of: repository.tree, signing: key, at: now)
        let turn = try DialTurn(facts.verified, by: rollout, in: facts.state, knowing: facts.labels, repository)
        var plan = PublicationPlan()
        let versions = try plan.publish(facts.verified, on: facts.state, dial: turn.next, labels: labels, fresh: fresh)
        plan.add(forms)
        if forms.awaitsOthers {
            var record = repository.tree.optimizationRecord
            record.add(PendingOptimization(facts.channel, facts.version))
            plan.write(record.fileBytes, to: .record(OptimizationRecord.name), in: .records)
        }
        let change = try WriteTree(plan, in: repository, over: facts.state).run()
        let removed = try repository.tree.removeDrafts(of: facts.channel, upTo: facts.version)
        return publication(facts, turn, change, versions, removedDrafts: removed)
    }

    private func publication(
        _ facts: Facts,
        _ turn: DialTurn,
        _ change: TreeChange,
        _ versions: FreshRoles.Versions,
        removedDrafts: [Int]
    ) -> Publication {
        Publication(
            channel: facts.channel,
            version: facts.version,
            counts: facts.verified.counts,
            change: change,
            roles: RefreshedVersions(app: repository.app, versions, signedAt: now),
            removedDrafts: removedDrafts,
            started: turn.started,
            heldBack: turn.heldBack(version: versions.dial),
            lapses: turn.lapses(version: versions.dial, over: facts.state, knowing: facts.labels),
            developersWait: developers(facts).filter { $0.taken != nil },
            endings: ReleaseExpiry(
                release: ReleaseExpiry.Role(facts.channel.text, expires: facts.verified.role.header.expires),
                root: facts.state.root.header.expires,
                targets: facts.state.targets.header.expires
            ).warnings(at: now),
            leftOutPacks: forms.leftOut.sorted { $0.words < $1.words },
            awaitsForms: forms.awaitsOthers
        )
    }

    /// The answers that developers receive once it is published.
    ///
    /// Nothing is read for an app without a developers' channel.
    private func developers(_ facts: Facts) -> [DeveloperSyncFile] {
        let names = [facts.channel] + facts.state.channels.keys
        guard names.contains(where: { $0.text == PackageSite.developers }),
            // The release is published: `check` reports damage in other channels.
            let state = try? PublishedState(of: repository)
        else { return [] }
        return (try? PublishedSites(of: state, in: repository).developers()) ?? []
    }
}

/// The dial of a channel before and after a release.
private struct DialTurn {
    let started: [StartedVersion]
    /// Nil if the dial stays as it is.
    let next: Dial?
    private let dial: Dial?
    private let entries: [PatchEntry]
    /// The entries of the previous release; nil if they cannot be read.
    private let before: [PatchEntry]?
    private let channel: ChannelName

    init(
        _ verified: VerifiedRelease,
        by rollout: ReleaseRollout,
        in state: PublishedState,
        knowing labels: PublishedLabels,
        _ repository: AppRepository
    ) throws(ServerError) {
        channel = verified.release.header.channel
        entries = verified.list.entries
        before = repository.listed(in: channel, state)
        started = try rollout.starts(of: verified, after: before, in: state, knowing: labels)
        if state.channels[channel] == nil {
            dial = nil
        } else {
            // A dial that cannot be read stays unchanged, unless rows are added.
            dial =
                started.isEmpty
                ? try? repository.dial(of: channel, in: state) : try repository.dial(of: channel, in: state)
        }
        next = Dial.next(after: dial, starting: started, of: entries, in: channel, of: repository.app)
        if let next { try next.checkSize() }
    }

    private func turned(version: Int) -> DialState? {
        (next ?? dial?.keeping(entries)).map { DialState($0, version: version, of: entries) }
    }

    func heldBack(version: Int) -> [DialState.Version] {
        (turned(version: version)?.versions ?? []).filter { version in
            version.isHeldBack && !started.contains { $0.sha256 == version.sha256 }
        }
    }

    func lapses(version: Int, over state: PublishedState, knowing labels: PublishedLabels) -> [DialLapse] {
        guard let dial, let before, let turned = turned(version: version) else { return [] }
        let old = DialState(dial, version: state.dial.header.version, of: before)
        return DialLapse.all(from: old, to: turned) { label in
            labels.rows[label]?.channel == channel || started.contains { $0.label == label }
        }
    }
}
