package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// Turns a channel's dial: all of the changes, or none.
    ///
    /// Needs no release key, and can do nothing beyond the signed rules: it slows down, pauses, and goes up to the
    /// ceiling. The caller holds the lock. The dial, its role, the snapshot and last the timestamp are written;
    /// interrupted before that, readers see the old state.
    /// - Parameter version: of the dial role that the operator saw; any other is refused.
    package func turn(
        _ changes: [DialChange],
        in channel: ChannelName,
        expecting version: Int? = nil,
        signing key: OnlineKey,
        at now: UTCTime
    ) throws(ServerError) -> DialOutcome {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        try state.checkHolds(at: now)
        let current = state.dial.header.version
        if let version, version != current { throw .dial(.outdated(expected: version, current: current)) }
        let list = try listed(of: channel, in: state)
        let before = try dial(of: channel, in: state).keeping(list.entries)
        let after: Dial
        do throws(DialRefusal) { after = try before.turned(by: changes, of: list.entries) } catch { throw .dial(error) }
        guard after != before else { return .unchanged(DialState(before, version: current, of: list)) }
        let roles = try publish(after, on: state, signing: key, at: now)
        return .turned(DialState(after, version: roles.dial, of: list), roles)
    }

    private func publish(
        _ dial: Dial,
        on state: PublishedState,
        signing key: OnlineKey,
        at now: UTCTime
    ) throws(ServerError) -> RefreshedVersions {
        try dial.checkSize()
        return try publishDials(on: state, signing: key, at: now) { plan, dials in plan.write(dial, to: &dials) }
    }

    /// Signs the dial's role anew, with its targets changed by `change`.
    func publishDials(
        on state: PublishedState,
        signing key: OnlineKey,
        at now: UTCTime,
        _ change: (inout PublicationPlan, inout [TargetPath: TargetFile]) -> Void
    ) throws(ServerError) -> RefreshedVersions {
        let fresh = try FreshRoles(over: state, of: self, signing: key, at: now)
        var plan = PublicationPlan()
        var dials = try state.dials()
        change(&plan, &dials)
        let versions = try fresh.add(to: &plan, dials: dials, files: state.otherFiles)
        try WriteTree(plan, in: self, over: state).run()
        return RefreshedVersions(app: app, versions, signedAt: now)
    }
}

extension PublicationPlan {
    /// Adds a channel's dial, under the name that its content has.
    mutating func write(_ dial: Dial, to dials: inout [TargetPath: TargetFile]) {
        let (bytes, path) = (dial.json.fileBytes, TargetPath.dial(dial.channel))
        write(bytes, to: .tree(.target(path, SHA256Digest(of: bytes))), in: .contents)
        dials[path] = TargetFile(of: bytes)
    }
}
