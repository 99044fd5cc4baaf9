import PatchFormat
import PatchCrypto
import PatchTrust

extension TrustUpdate.OnDisk {
    /// The highest version of a channel that the server has seen, whatever the tree says now.
    fileprivate func knownVersion(of channel: ChannelName) -> Int {
        max(channels[channel] ?? 0, labels.newestRole(of: channel))
    }
}

extension TrustUpdate {
    /// Whether every channel still says what it last said, for readers that forget its version.
    ///
    /// Where versions start again the tree alone is no witness: with an old timestamp put back it is whole, and readers
    /// would follow it to an older release. A channel that was dropped may be missing.
    ///
    /// - Parameter decided: channels that somebody decided about: a release was given, or the version was accepted.
    static func checkNoneWentBack(
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
                throw .trust(.channelWentBack(channel, version: version, known: known))
            }
        }
    }
}
