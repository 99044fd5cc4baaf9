import PatchFormat
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// Compares an offered release's base with the published role: compare-and-swap.
enum BaseComparison: Equatable, Sendable {
    /// The release was made from the current role.
    case next
    /// The release is the current role: published before, uploaded again.
    case current

    /// - Parameter restored: the versions in the backup that the server was restored from, if it was; see
    ///   ``VersionRecord``.
    init(
        _ release: SignedRelease,
        in state: PublishedState,
        labels: PublishedLabels,
        restored: [ChannelName: Int] = [:]
    ) throws(PublishConflict) {
        let header = release.header
        let channel = header.channel
        let (offered, base) = (header.roleVersion, header.base?.roleVersion ?? 0)
        let current = state.channels[channel]
        let version = state.version(of: channel)
        if offered == version, release.role.identity == current?.identity {
            self = .current
            return
        }
        if current == nil, base > 0, labels.dropped[channel] != nil {
            // The channel was published, dropped from the root of trust and added again: its last version is unknown.
            self = .next
            return
        }
        // Devices may know releases that were published after the backup, so the next one may have a version above theirs. It was
        // still made from the current one.
        let leavesOut = current != nil && restored[channel] == version && base > version && base <= UsedVersions.sane
        guard base == version || leavesOut else {
            throw .outdated(channel: channel, base: base, current: version)
        }
        if let base = header.base, let current, base.sha256 != current.identity {
            throw .otherBase(channel: channel, version: version, base: base.sha256, current: current.identity)
        }
        self = .next
    }
}

/// The action for a verified release.
enum Publishing: Sendable {
    case publish(PublishedLabels)
    /// Its quorum is incomplete.
    case keepDraft
    /// The release is published already; files missing from the tree are restored.
    case repair

    /// - Throws: an error for a label republished with other content, or a release that devices would reject.
    init(
        _ verified: VerifiedRelease,
        comparison: BaseComparison,
        state: PublishedState,
        labels: PublishedLabels,
        now: UTCTime
    )
        throws(TrustError)
    {
        switch comparison {
        case .current:
            self = .repair
        case .next:
            let channel = verified.role.name
            for (role, header) in [
                ("root", state.root.header), ("targets", state.targets.header), (channel, verified.role.header),
            ]
            where header.expires <= now {
                throw .expired(role: role, expires: header.expires, at: now)
            }
            guard verified.quorum.valid > 0 else {
                throw .threshold(role: channel, valid: 0, needed: verified.quorum.needed)
            }
            let grown: PublishedLabels
            var known = labels.published(in: state)
            let (name, version) = (verified.release.header.channel, verified.role.header.version)
            if let last = labels.dropped[name], version <= last { known = known.recovering(name, at: version) }
            do throws(EntryFault) {
                grown = try known.adding(
                    verified.list.entries,
                    channel: name,
                    roleVersion: version
                )
            } catch { throw .entry(error) }
            self = verified.quorum.isComplete ? .publish(grown) : .keepDraft
        }
    }
}

extension PublicationPlan {
    /// The scripts, assets, list, manifests and columns of a release.
    mutating func add(contentsOf verified: VerifiedRelease) {
        for (digest, path) in verified.release.objects.sorted(by: { $0.key < $1.key }) { copy(path, to: digest) }
        for (path, bytes) in verified.release.targets.sorted(by: { $0.key < $1.key }) {
            write(bytes, to: .tree(.target(path, SHA256Digest(of: bytes))), in: .contents)
        }
    }

    /// Adds all writes that publish a release.
    ///
    /// - Parameter dial: The channel's next dial, which devices see together with the release; nil if it stays.
    /// - Returns: the new versions of the online roles.
    mutating func publish(
        _ verified: VerifiedRelease,
        on state: PublishedState,
        dial: Dial?,
        labels: PublishedLabels,
        fresh: FreshRoles
    ) throws(ServerError) -> FreshRoles.Versions {
        var dials = try state.dials()
        var files = state.otherFiles
        add(contentsOf: verified)
        // Before the role is added, which would give a channel's first release an empty dial.
        if let dial { write(dial, to: &dials) }
        add(role: verified, to: &files, dials: &dials)
        write(labels.fileBytes, to: .record("labels.json"), in: .records)
        return try fresh.add(to: &self, dials: dials, files: files)
    }

    /// Adds a release's role, and a dial if the channel has none.
    ///
    /// - Parameters:
    ///   - files: the rows of the next snapshot, for every role but the dial.
    ///   - dials: the rows of the next dial role.
    mutating func add(
        role verified: VerifiedRelease,
        to files: inout [String: RoleFile],
        dials: inout [TargetPath: TargetFile]
    ) {
        let (app, channel) = (verified.release.header.app, verified.release.header.channel)
        let version = verified.role.header.version
        let role = verified.release.role.fileBytes
        write(role, to: .tree(.role(channel.text, version: version)), in: .channel)
        files[channel.text] = RoleFile(of: role, version: version)
        guard dials[.dial(channel)] == nil else { return }
        write(Dial(app: app, channel: channel, rows: []), to: &dials)
    }
}
