package import PatchFormat
import PatchServer

/// Whether a proposed change is valid for the published state, and its effect.
///
/// Pure. `patchsign` reports the actual change that is signed, as it reads the bytes themselves.
struct ProposalCheck: Equatable, Sendable {
    /// An earlier release that listed the subject of a withdrawal.
    struct EarlierListing: Equatable, Sendable {
        let version: Int
        /// Whether the tree still has its role, so that a key holder can verify it.
        let isKept: Bool
    }

    /// One line per change.
    let difference: [String]
    /// The release that a key holder takes the withdrawn version's digest from, if the current one does not list it.
    private(set) var listedIn: Int?

    /// - Parameters:
    ///   - hasRelease: whether the tree still has the release to roll back to.
    ///   - older: the newest releases in the tree below the current one.
    ///   - earlier: the release that listed the subject of a withdrawal last, if the current one does not list it.
    init(
        _ change: ProposedChange,
        of channel: ChannelName,
        in listing: AppListing,
        hasRelease: Bool,
        older: [Int] = [],
        earlier: EarlierListing? = nil
    ) throws(ProposalFault) {
        let current = listing.channels.first { $0.name == channel }
        switch change {
        case .promote(let from, let rollouts):
            guard from != channel else { throw .sameChannel }
            guard let source = listing.channels.first(where: { $0.name == from }) else { throw .nothingPublished(from) }
            if let id = rollouts.keys.sorted().first(where: { id in !source.patches.contains { $0.patchID == id } }) {
                throw .notListed(id, nil)
            }
            difference = try Self.difference(promoting: source, over: current, rollouts)
        case .rollBack(let version):
            guard let current else { throw .nothingPublished(channel) }
            guard version < current.version, hasRelease else {
                throw .noOlder(version: version, current: current.version, older: older)
            }
            difference = ["~ the list of release \(version) is listed again, in place of release \(current.version)"]
        case .withdraw(let id, let version) where Self.isUnlisted(id, version, current):
            guard let earlier else { throw .notListed(id, version) }
            guard earlier.isKept else { throw .listingRemoved(id, version, release: earlier.version) }
            let subject = version.map { "\(id) \($0)" } ?? id.text
            difference = ["- \(subject), which release \(earlier.version) listed last, is withdrawn for good"]
            listedIn = earlier.version
        case .withdraw(let id, let version):
            let listed = try Self.listed(id, version, current, channel)
            difference = listed.map { "- \($0.patchID) \($0.version) is withdrawn; devices that run it remove it" }
        case .rules(let id, let version, let edit):
            _ = try Self.listed(id, version, current, channel)
            difference = ["~ \(id) \(version): \(edit.words)"]
        }
    }

    private static func isUnlisted(_ id: PatchID, _ version: VersionLabel?, _ current: AppListing.Channel?) -> Bool {
        guard let current else { return false }
        return !current.patches.contains { $0.patchID == id && (version == nil || $0.version == version) }
    }

    private static func listed(
        _ id: PatchID,
        _ version: VersionLabel?,
        _ current: AppListing.Channel?,
        _ channel: ChannelName
    ) throws(ProposalFault) -> [AppListing.Patch] {
        guard let current else { throw .nothingPublished(channel) }
        let listed = current.patches.filter { $0.patchID == id && (version == nil || $0.version == version) }
        guard !listed.isEmpty else { throw .notListed(id, version) }
        return listed
    }

    private static func difference(
        promoting source: AppListing.Channel,
        over current: AppListing.Channel?,
        _ rollouts: [PatchID: Int]
    ) throws(ProposalFault) -> [String] {
        var lines: [String] = []
        for patch in source.patches {
            let label = Label(patchID: patch.patchID, version: patch.version)
            let isFirst = source.patches.first { $0.patchID == patch.patchID } == patch
            let share = isFirst ? rollouts[patch.patchID].map { ", for \(RolloutShare($0)) of devices" } ?? "" : ""
            let own = current?.patches.filter { $0.patchID == patch.patchID } ?? []
            let same = own.first { $0.version == patch.version }
            if let same, same.sha256 != patch.sha256 { throw .otherContent(label) }
            // Older versions are included only without a share.
            guard isFirst || rollouts[patch.patchID] == nil else { continue }
            if let same {
                let rollout = isFirst ? rollouts[patch.patchID] ?? patch.rollout : patch.rollout
                if same.rollout != rollout {
                    lines.append(
                        "~ \(label): rollout goes from \(RolloutShare(same.rollout)) to \(RolloutShare(rollout))"
                    )
                }
                if own.first?.version != patch.version, isFirst {
                    lines.append("~ \(label) is listed first")
                }
            } else if !isFirst {
                lines.append("+ \(label) is listed too, behind newer versions")
            } else if let first = own.first {
                lines.append(
                    "~ \(patch.patchID) \(patch.version) is listed, and \(first.version) is first now\(share)"
                )
            } else {
                lines.append("+ \(label) is new\(share)")
            }
        }
        // Hidden rules may differ: the signer sees all of them.
        return lines.isEmpty ? ["= no other content; rules may differ"] : lines
    }
}

/// Why a proposed change is not valid now.
package enum ProposalFault: Error, Equatable, Sendable {
    /// No key may sign for the channel.
    case notDelegated(ChannelName)
    case nothingPublished(ChannelName)
    case sameChannel
    case notListed(PatchID, VersionLabel?)
    /// An earlier release listed it, and its role was removed from the tree.
    case listingRemoved(PatchID, VersionLabel?, release: Int)
    /// The release is the current one, a later one, or does not exist; `older` contains the newest valid ones.
    case noOlder(version: Int, current: Int, older: [Int])
    /// One label would have two contents.
    case otherContent(Label)
    case unknown
    /// It was published, and a published release stays in the history.
    case done
    case tooMany(limit: Int)
}

extension ProposalFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notDelegated(let channel): "the root of trust has no channel \(channel)"
        case .nothingPublished(let channel): "\(channel) has no release yet"
        case .sameChannel: "a channel cannot be promoted to itself"
        case .notListed(let id, let version): "\(id)\(version.map { " \($0)" } ?? "") is not listed"
        case .listingRemoved(let id, let version, let release):
            "\(id)\(version.map { " \($0)" } ?? "") is not listed; release \(release) listed it last, and the server has "
                + "removed that release: `patchsign withdraw --previous DIR --listed-by DIR` withdraws it from a copy"
        case .noOlder(let version, let current, let older):
            "release \(version) is not earlier than the current \(current), or does not exist; "
                + (older.isEmpty
                    ? "there is no older one" : "older ones are \(older.map(String.init).joined(separator: ", "))")
        case .otherContent(let label): "\(label) has other content in the other channel"
        case .unknown: "there is no such proposal"
        case .done: "the proposal was published"
        case .tooMany(let limit): "\(limit) proposals of this channel wait already"
        }
    }
}

extension ProposalFault {
    /// The way to a change that the server accepts.
    package var hint: String {
        switch self {
        case .notDelegated: "patchsign delegate makes a channel; nothing was changed"
        case .nothingPublished: "publish a release to it first: patchsign push"
        case .sameChannel: "name the other channel with --from; nothing was changed"
        case .notListed: "patchsrv list shows the published versions; nothing was changed"
        case .noOlder: "patchsrv history shows the releases; nothing was changed"
        case .otherContent: "give the new content a new version; nothing was changed"
        case .listingRemoved, .done, .tooMany: "nothing was changed"
        case .unknown: "patchsrv proposal list shows the open proposals"
        }
    }
}
