package import PatchFormat
import PatchTrust

/// The default channel of a release.
package struct StandardChannel: Equatable, Sendable {
    package enum Rule: String, Equatable, Sendable {
        case only = "the app's only channel"
        case production = "the default channel"
    }

    package let channel: ChannelName
    package let rule: Rule

    /// The only channel, or `production`; nil if there are several channels but no `production`.
    package init?(of channels: [ChannelName]) {
        if channels.count == 1 {
            (channel, rule) = (channels[0], .only)
        } else if let production = channels.first(where: { $0.text == RootOfTrustPlan.defaultChannels[0] }) {
            (channel, rule) = (production, .production)
        } else {
            return nil
        }
    }
}

extension ReleaseTrust {
    /// The channels that targets.json delegates to, sorted.
    package var channels: [ChannelName] { targets.delegations.compactMap { ChannelName($0.name) }.sorted() }
}
