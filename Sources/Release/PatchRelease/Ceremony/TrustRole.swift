package import PatchFormat

/// The uses of a key, as named on a command line.
package enum TrustRole: Hashable, Sendable {
    case root
    case targets
    /// Snapshot, timestamp and dial: always the same single key, which the server has.
    case online
    case channel(ChannelName)

    /// Returns nil if the text is neither a role nor a valid channel name.
    package init?(_ text: String) {
        switch text {
        case "root": self = .root
        case "targets": self = .targets
        case RootOfTrustPlan.online: self = .online
        case RootOfTrustPlan.entry: return nil
        case _:
            guard let channel = ChannelName(text) else { return nil }
            self = .channel(channel)
        }
    }
}

extension TrustRole: CustomStringConvertible {
    package var description: String {
        switch self {
        case .root: "root"
        case .targets: "targets"
        case .online: RootOfTrustPlan.online
        case .channel(let name): name.text
        }
    }
}
