package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// Changes a channel's parameters; its dial stays as it is.
    ///
    /// Needs no release key, and decides nothing about versions. The caller holds the lock. Written are the parameters,
    /// unless none are left, the dial's role, the snapshot and last the timestamp; stopped before that, readers see the old
    /// state.
    /// What cannot be read may be replaced as a whole.
    /// - Parameter tag: of the parameters that the operator looked at; any other is refused.
    package func change(
        _ change: ParametersChange,
        in channel: ChannelName,
        expecting tag: SHA256Digest? = nil,
        signing key: OnlineKey,
        at now: UTCTime
    ) throws(ServerError) -> ParametersOutcome {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        try state.checkHolds(at: now)
        let before: ParametersState?
        do throws(ServerError) {
            before = ParametersState(try parameters(of: channel, in: state))
        } catch .tree(_, .malformed) where change.isWhole && tag == nil {
            before = nil
        }
        if let before, let tag, tag != before.tag {
            throw .parameters(.outdated(expected: tag, current: before.tag))
        }
        let values = change.applied(to: before?.parameters.values ?? [:])
        let after = OnlineParameters(app: app, channel: channel, values: values)
        if let before, before.parameters == after { return .unchanged(before) }
        do throws(ParametersRefusal) { try after.check() } catch { throw .parameters(error) }
        let roles = try publishDials(on: state, signing: key, at: now) { plan, dials in plan.write(after, to: &dials) }
        return .changed(from: before, ParametersState(after), roles)
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
    /// A channel's parameters under the name that their content has; a channel without any has no such target.
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
