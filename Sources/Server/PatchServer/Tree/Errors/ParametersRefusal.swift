package import PatchFormat

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
