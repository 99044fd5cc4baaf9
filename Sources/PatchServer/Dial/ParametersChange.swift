package import PatchFormat

/// What an operator asks of a channel's online parameters.
package enum ParametersChange: Equatable, Sendable {
    /// These values, beside those that are there.
    case set([ParameterName: ParameterValue])
    /// What is not there stays so.
    case unset(Set<ParameterName>)
    /// These values and no others.
    case replace([ParameterName: ParameterValue])

    /// Whether it says all that is there afterwards.
    package var isWhole: Bool {
        if case .replace = self { true } else { false }
    }

    package func applied(to values: [ParameterName: ParameterValue]) -> [ParameterName: ParameterValue] {
        switch self {
        case .set(let changes): values.merging(changes) { $1 }
        case .unset(let names): values.filter { !names.contains($0.key) }
        case .replace(let all): all
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
