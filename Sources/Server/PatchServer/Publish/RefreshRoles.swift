package import PatchFormat

/// Signs snapshot and timestamp again, and the dial if it expires.
///
/// Their content stays the same. The caller holds the lock.
package struct RefreshRoles: Sendable {
    private let repository: AppRepository
    private let key: OnlineKey
    private let clock: UTCTime
    private let acceptsClock: Bool

    /// - Parameter acceptsClock: Sign by a clock that is behind the newest signature, because that one was made by a clock
    ///   that was ahead. The dial is signed too: its own expiry is from that clock.
    package init(
        of repository: AppRepository,
        signing key: OnlineKey,
        at clock: UTCTime,
        acceptingClock acceptsClock: Bool = false
    ) {
        (self.repository, self.key, self.clock, self.acceptsClock) = (repository, key, clock, acceptsClock)
    }

    /// - Throws: `ended` if root or targets have expired: devices would reject the result, and a clock that is ahead would date
    ///   signatures in the future. `clockBehind` for a clock that is certainly wrong.
    @discardableResult
    package func run() throws(ServerError) -> RefreshedVersions {
        let state = try PublishedState(of: repository)
        try repository.checkOnlineKey(key, in: state)
        try state.checkHolds(at: clock)
        let fresh = try FreshRoles(
            over: state,
            of: repository.tree,
            signing: key,
            at: clock,
            acceptingClock: acceptsClock
        )
        var plan = PublicationPlan()
        let versions = try fresh.add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        try WriteTree(plan, in: repository, over: state).run()
        return RefreshedVersions(app: repository.app, versions, signedAt: fresh.now)
    }
}
