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
