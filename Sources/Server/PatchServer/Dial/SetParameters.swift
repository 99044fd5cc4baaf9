import PatchCrypto
package import PatchFormat
import PatchTrust

/// An operator's change of a channel's online parameters.
package enum ParametersChange: Equatable, Sendable {
    /// Sets these values, and keeps the others.
    case set([ParameterName: ParameterValue])
    /// Removes these values.
    ///
    /// Missing names are ignored.
    case unset(Set<ParameterName>)
    /// Sets these values and removes all others.
    case replace([ParameterName: ParameterValue])

    /// Whether the change determines all parameters.
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

/// Changes a channel's parameters; its dial stays as it is.
///
/// Needs no release key, and decides nothing about versions. The caller holds the lock. Writes the parameters, unless none are
/// left, the dial role, the snapshot and last the timestamp. If interrupted before that, readers see the old state. Unreadable
/// parameters may be replaced as a whole.
package struct SetParameters: Sendable {
    private let change: ParametersChange
    private let channel: ChannelName
    private let repository: AppRepository
    private let expected: SHA256Digest?
    private let key: OnlineKey
    private let now: UTCTime

    /// - Parameter expected: the tag of the parameters that the operator saw; any other is rejected.
    package init(
        _ change: ParametersChange,
        in channel: ChannelName,
        of repository: AppRepository,
        expecting expected: SHA256Digest? = nil,
        signing key: OnlineKey,
        at now: UTCTime
    ) {
        (self.change, self.channel, self.repository) = (change, channel, repository)
        (self.expected, self.key, self.now) = (expected, key, now)
    }

    package func run() throws(ServerError) -> ParametersOutcome {
        let state = try PublishedState(of: repository)
        try repository.checkOnlineKey(key, in: state)
        try state.checkHolds(at: now)
        let before = try parameters(in: state)
        let after = try decide(before)
        if let before, before.parameters == after { return .unchanged(before) }
        let signing = SignDials(of: repository, over: state, with: key, at: now)
        let roles = try signing.run { plan, dials in plan.write(after, to: &dials) }
        return .changed(from: before, ParametersState(after), roles)
    }

    /// Nil if they cannot be read and are replaced.
    private func parameters(in state: PublishedState) throws(ServerError) -> ParametersState? {
        do throws(ServerError) {
            return ParametersState(try repository.parameters(of: channel, in: state))
        } catch .tree(_, .malformed) where change.isWhole && expected == nil {
            return nil
        }
    }

    private func decide(_ before: ParametersState?) throws(ServerError) -> OnlineParameters {
        if let before, let expected, expected != before.tag {
            throw .parameters(.outdated(expected: expected, current: before.tag))
        }
        let values = change.applied(to: before?.parameters.values ?? [:])
        let after = OnlineParameters(app: repository.app, channel: channel, values: values)
        if before?.parameters != after {
            do throws(ParametersRefusal) { try after.check() } catch { throw .parameters(error) }
        }
        return after
    }
}

extension OnlineParameters {
    fileprivate func check() throws(ParametersRefusal) {
        guard values.count <= Limits.parametersInChannel else {
            throw .tooMany(count: values.count, limit: Limits.parametersInChannel)
        }
        let size = json.fileBytes.count
        guard size <= Limits.parameters else { throw .tooLarge(size: size, limit: Limits.parameters) }
    }
}

extension PublicationPlan {
    /// Writes a channel's parameters under the name that their content determines.
    ///
    /// A channel without parameters has no such target.
    fileprivate mutating func write(_ parameters: OnlineParameters, to dials: inout [TargetPath: TargetFile]) {
        let path = TargetPath.parameters(parameters.channel)
        guard !parameters.values.isEmpty else {
            dials[path] = nil
            return
        }
        let bytes = parameters.json.fileBytes
        write(bytes, to: .tree(.target(path, SHA256Digest(of: bytes))), in: .contents)
        dials[path] = TargetFile(of: bytes)
    }
}
