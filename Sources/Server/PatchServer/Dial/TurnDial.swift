package import PatchFormat
import PatchCrypto
import PatchTrust

/// Changes a channel's dial: all of the changes, or none.
///
/// Needs no release key, and stays within the signed rules: it restricts, pauses, and raises shares up to the ceiling. The caller
/// holds the lock. Writes the dial, its role, the snapshot and last the timestamp. If interrupted before that, readers see the old
/// state.
package struct TurnDial: Sendable {
    private let changes: [DialChange]
    private let channel: ChannelName
    private let repository: AppRepository
    private let expected: Int?
    private let key: OnlineKey
    private let now: UTCTime

    /// - Parameter expected: the version of the dial role that the operator saw; any other is rejected.
    package init(
        _ changes: [DialChange],
        in channel: ChannelName,
        of repository: AppRepository,
        expecting expected: Int? = nil,
        signing key: OnlineKey,
        at now: UTCTime
    ) {
        (self.changes, self.channel, self.repository) = (changes, channel, repository)
        (self.expected, self.key, self.now) = (expected, key, now)
    }

    package func run() throws(ServerError) -> DialOutcome {
        let facts = try read()
        guard let after = try decide(facts) else {
            return .unchanged(DialState(facts.dial, version: facts.version, of: facts.list))
        }
        let signing = SignDials(of: repository, over: facts.state, with: key, at: now)
        let roles = try signing.run { plan, dials in plan.write(after, to: &dials) }
        return .turned(DialState(after, version: roles.dial, of: facts.list), roles)
    }

    private struct Facts {
        let state: PublishedState
        let list: PatchList
        /// The dial, without rows of versions no longer listed.
        let dial: Dial

        var version: Int { state.dial.header.version }
    }

    private func read() throws(ServerError) -> Facts {
        let state = try PublishedState(of: repository)
        try repository.checkOnlineKey(key, in: state)
        try state.checkHolds(at: now)
        let current = state.dial.header.version
        if let expected, expected != current { throw .dial(.outdated(expected: expected, current: current)) }
        let list = try repository.listed(of: channel, in: state)
        return Facts(
            state: state,
            list: list,
            dial: try repository.dial(of: channel, in: state).keeping(list.entries)
        )
    }

    /// The next dial; nil if it already has all changes.
    private func decide(_ facts: Facts) throws(ServerError) -> Dial? {
        let after: Dial
        do throws(DialRefusal) { after = try facts.dial.turned(by: changes, of: facts.list.entries) } catch {
            throw .dial(error)
        }
        guard after != facts.dial else { return nil }
        try after.checkSize()
        return after
    }
}

/// Signs the dial role again, with changed targets.
struct SignDials: Sendable {
    private let repository: AppRepository
    private let state: PublishedState
    private let key: OnlineKey
    private let now: UTCTime

    init(of repository: AppRepository, over state: PublishedState, with key: OnlineKey, at now: UTCTime) {
        (self.repository, self.state, self.key, self.now) = (repository, state, key, now)
    }

    func run(
        _ change: (inout PublicationPlan, inout [TargetPath: TargetFile]) -> Void
    ) throws(ServerError) -> RefreshedVersions {
        let fresh = try FreshRoles(over: state, of: repository.tree, signing: key, at: now)
        var plan = PublicationPlan()
        var dials = try state.dials()
        change(&plan, &dials)
        let versions = try fresh.add(to: &plan, dials: dials, files: state.otherFiles)
        try WriteTree(plan, in: repository, over: state).run()
        return RefreshedVersions(app: repository.app, versions, signedAt: now)
    }
}

extension PublicationPlan {
    /// Adds a channel's dial, under the name that its content determines.
    mutating func write(_ dial: Dial, to dials: inout [TargetPath: TargetFile]) {
        let (bytes, path) = (dial.json.fileBytes, TargetPath.dial(dial.channel))
        write(bytes, to: .tree(.target(path, SHA256Digest(of: bytes))), in: .contents)
        dials[path] = TargetFile(of: bytes)
    }
}
