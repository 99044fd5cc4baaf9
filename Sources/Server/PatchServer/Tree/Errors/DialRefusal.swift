package import PatchFormat

/// Why a dial is not turned; nothing has changed then.
package enum DialRefusal: Error, Equatable, Sendable {
    /// The channel has no release.
    case unpublished(ChannelName)
    /// The channel's list has no such patch, version or content.
    case notListed(ChannelName, String)
    /// Shares in devices of 10,000.
    case aboveCeiling(PatchID, VersionLabel, asked: Int, ceiling: Int)
    /// A release sets the share of a patch of which it lists no new version.
    case notNew(ChannelName, PatchID)
    /// A head-count is only raised.
    case headcountLowered(PatchID, VersionLabel, asked: Int, current: Int)
    /// The dial role has another version than the one that the operator looked at.
    case outdated(expected: Int, current: Int)
    /// No device would read it.
    case tooLarge(size: Int, limit: Int)
}

extension DialRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unpublished(let channel): "the channel \(channel) offers nothing yet"
        case .notListed(let channel, let subject): "\(channel) does not list \(subject)"
        case .notNew(let channel, let id): "this release lists no new version of \(id) in \(channel)"
        case .aboveCeiling(let id, let version, let asked, let ceiling):
            "\(id) \(version) is signed for \(RolloutShare(ceiling)) of devices, and \(RolloutShare(asked)) is more"
        case .headcountLowered(let id, let version, let asked, let current):
            "\(id) \(version) is open to \(Words.count(current, "device")), and a head-count is never lowered: \(Words.grouped(asked)) is less"
        case .outdated(let expected, let current):
            "the dial was changed meanwhile: it has version \(current), not \(expected)"
        case .tooLarge(let size, let limit): "the dial would have \(size) bytes, and may have \(limit)"
        }
    }
}

/// Why parameters are not changed; nothing has changed then.
package enum ParametersRefusal: Error, Equatable, Sendable {
    /// The channel has no release, so no device asks for them.
    case unpublished(ChannelName)
    /// They are others than the ones that the operator looked at, by their tags.
    case outdated(expected: SHA256Digest, current: SHA256Digest)
    case tooMany(count: Int, limit: Int)
    /// No device would read them.
    case tooLarge(size: Int, limit: Int)
}

extension ParametersRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unpublished(let channel): "the channel \(channel) offers nothing yet"
        case .outdated(let expected, let current):
            "the parameters were changed meanwhile: their tag is \(current), not \(expected)"
        case .tooMany(let count, let limit): "there would be \(count) parameters, and there may be \(limit)"
        case .tooLarge(let size, let limit): "the parameters would have \(size) bytes, and may have \(limit)"
        }
    }
}
