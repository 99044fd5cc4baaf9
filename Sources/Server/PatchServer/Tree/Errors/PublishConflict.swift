package import PatchFormat

/// Why a release conflicts with another one.
package enum PublishConflict: Error, Equatable, Sendable {
    /// The channel has changed since the release was described; 0 means no release.
    case outdated(channel: ChannelName, base: Int, current: Int)
    /// The current role has the same version as the release's base, but other content.
    case otherBase(channel: ChannelName, version: Int, base: SHA256Digest, current: SHA256Digest)
    /// The channel was dropped earlier, and this version of it was published with other bytes.
    case versionUsed(channel: ChannelName, version: Int)
    /// Another release of this version waits for signatures.
    case otherDraft(channel: ChannelName, version: Int, kept: SHA256Digest, offered: SHA256Digest)
}

extension PublishConflict: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outdated(let channel, let base, let current):
            "\(channel): based on \(base), current is \(current): make the release again from the current one"
        case .otherBase(let channel, let version, let base, let current):
            "\(channel): based on a version \(version) with other content (\(base.short), here \(current.short)): "
                + "make the release again from the current one"
        case .versionUsed(let channel, let version):
            "\(channel): version \(version) was published before with other bytes, and caches keep those for ever: "
                + "make the release again from a later one"
        case .otherDraft(let channel, let version, let kept, let offered):
            "\(channel): version \(version) is drafted already with other content (\(kept.short), offered \(offered.short))"
        }
    }
}

extension SHA256Digest {
    fileprivate var short: String { "\(hex.prefix(12))…" }
}
