package import PatchFormat

/// Why a dial was not changed.
package enum DialRefusal: Error, Equatable, Sendable {
    /// The channel has no release.
    case unpublished(ChannelName)
    /// The channel's list has no such patch, version or content.
    case notListed(ChannelName, String)
    /// Shares in devices of 10,000.
    case aboveCeiling(PatchID, VersionLabel, asked: Int, ceiling: Int)
    /// A release sets the share of a patch without a new version.
    case notNew(ChannelName, PatchID)
    /// A headcount can only be raised.
    case headcountLowered(PatchID, VersionLabel, asked: Int, current: Int)
    /// The dial role has another version than the operator saw.
    case outdated(expected: Int, current: Int)
    /// The dial is too large for devices.
    case tooLarge(size: Int, limit: Int)
}

extension DialRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unpublished(let channel): "the channel \(channel) offers nothing yet"
        case .notListed(let channel, let subject): "\(channel) does not list \(subject)"
        case .notNew(let channel, let id): "this release lists no new version of \(id) in \(channel)"
        case .aboveCeiling(let id, let version, let asked, let ceiling):
            "\(id) \(version) is signed for \(RolloutShare(ceiling)) of devices, so \(RolloutShare(asked)) is too much"
        case .headcountLowered(let id, let version, let asked, let current):
            "\(id) \(version) is open to \(Words.count(current, "device")), and a head-count can only be raised: \(Words.grouped(asked)) is less"
        case .outdated(let expected, let current):
            "the dial was changed meanwhile: it has version \(current), not \(expected)"
        case .tooLarge(let size, let limit): "the dial would have \(size) bytes; the limit is \(limit)"
        }
    }
}

/// Why parameters were not changed.
package enum ParametersRefusal: Error, Equatable, Sendable {
    /// The channel has no release, so devices do not request them.
    case unpublished(ChannelName)
    /// The parameters differ from those that the operator saw, by their tags.
    case outdated(expected: SHA256Digest, current: SHA256Digest)
    case tooMany(count: Int, limit: Int)
    /// The parameters are too large for devices.
    case tooLarge(size: Int, limit: Int)
}

extension ParametersRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unpublished(let channel): "the channel \(channel) offers nothing yet"
        case .outdated(let expected, let current):
            "the parameters were changed meanwhile: their tag is \(current), not \(expected)"
        case .tooMany(let count, let limit): "there would be \(count) parameters; the limit is \(limit)"
        case .tooLarge(let size, let limit): "the parameters would have \(size) bytes; the limit is \(limit)"
        }
    }
}
