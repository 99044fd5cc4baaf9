package import PatchFormat
package import PatchTrust

/// Why a newer root of trust was rejected.
///
/// Each case is one broken rule; the served state is unchanged.
package enum TrustRefusal: Error, Equatable, Sendable {
    /// A root between the known and the newest one is missing from the tree and the folder.
    case missingRoot(version: Int)
    /// The tree has a newer version of this role.
    case older(String, offered: Int, current: Int)
    /// The tree has this version of the role with other bytes.
    case forked(String, version: Int)
    case untrusted(document: String, TrustError)
    /// The root is for another app than requested.
    case otherApp(found: AppID?, expected: AppID)
    /// The new root lists another online key than the server has.
    case otherOnlineKey
    /// A channel's published release does not verify under the new targets role: a release key was revoked.
    case channelUntrusted(ChannelName, version: Int, TrustError)
    /// The targets role no longer delegates to it.
    ///
    /// Readers who know it would reject a snapshot without it.
    case channelVanished(String)
    /// The targets role delegates to a channel that was retired; readers know the last version of it.
    case channelRetired(ChannelName)
    /// Readers would forget the version that the server knows of the channel, and the tree has an older one (0 for none).
    ///
    /// An old timestamp was restored, or a publish was interrupted.
    case channelRollback(ChannelName, version: Int, known: Int)
    /// Two releases were given for one channel.
    case twoReleases(ChannelName)
    /// The version was used for other bytes, which caches keep for ever.
    case versionUsed(String, version: Int)
}

extension TrustRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missingRoot(let version):
            "\(version).root.json is missing: roots follow one another without a gap"
        case .older(let role, let offered, let current):
            "\(role) \(offered) is older than \(role) \(current), which is published"
        case .forked(let role, let version):
            "\(role) \(version) was published with other bytes"
        case .untrusted(let document, let error): "\(document) is not trusted: \(error)"
        case .otherApp(let found, let expected): "root.json is for the app \(found?.text ?? "none"), not \(expected)"
        case .otherOnlineKey: "the new root lists another online key than this server has"
        case .channelUntrusted(let channel, let version, let error):
            "\(channel) \(version), which is published, is not valid under the new targets.json: \(error)"
        case .channelVanished(let role):
            "the new targets.json no longer delegates to \(role), which is published; devices reject that while snapshot "
                + "keeps its key"
        case .channelRetired(let channel):
            "the new targets.json names the channel \(channel), which was retired for good"
        case .channelRollback(let channel, let version, let known):
            "the tree has \(version == 0 ? "no \(channel)" : "\(channel) \(version)"), but this server has a "
                + "\(channel) \(known); devices forget versions with this root and would go back"
        case .twoReleases(let channel): "two releases were given for \(channel)"
        case .versionUsed(let role, let version):
            "\(role) \(version) was published with other bytes, and caches keep those for ever"
        }
    }
}
