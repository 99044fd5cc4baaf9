package import PatchFormat

/// Why a proposed change makes no sense now.
package enum ProposalFault: Error, Equatable, Sendable {
    /// Nobody may sign for the channel.
    case notDelegated(ChannelName)
    case nothingPublished(ChannelName)
    case sameChannel
    case notListed(PatchID, VersionLabel?)
    /// An earlier release listed it, and its role was removed from the tree.
    case listingGone(PatchID, VersionLabel?, release: Int)
    /// A release that is the current one, a later one, or not there; the newest `older` ones are.
    case noOlder(version: Int, current: Int, older: [Int])
    /// One label would have two contents.
    case otherContent(Label)
    case unknown
    /// It was published; a published release stays in the history.
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
        case .listingGone(let id, let version, let release):
            "\(id)\(version.map { " \($0)" } ?? "") is not listed; release \(release) listed it last, and the server has "
                + "removed that release: `patchsign withdraw --previous DIR --listed-by DIR` withdraws it from a copy"
        case .noOlder(let version, let current, let older):
            "release \(version) is none that was before the current \(current); "
                + (older.isEmpty
                    ? "no older one is there" : "there is \(older.map(String.init).joined(separator: ", "))")
        case .otherContent(let label): "\(label) has other content in the other channel"
        case .unknown: "there is no such proposal"
        case .done: "the proposal was published"
        case .tooMany(let limit): "\(limit) proposals of this channel wait already"
        }
    }
}
