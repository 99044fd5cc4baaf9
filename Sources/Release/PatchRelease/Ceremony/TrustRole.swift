package import PatchFormat

/// What a key can be for, as people name it on a command line.
package enum TrustRole: Hashable, Sendable {
    case root
    case targets
    /// Snapshot, timestamp and dial: the server's, always the same single key.
    case online
    case channel(ChannelName)

    /// Nil for what is neither a role nor the name that a channel may have.
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
