package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// Signs snapshot and timestamp again, and the dial where it holds no longer; what they say stays the same.
    ///
    /// The caller holds the lock.
    /// - Parameter acceptingClock: Sign by a clock that is behind the newest signature, because that one was made by a clock
    ///   that was ahead. The dial is signed too: its own expiry is from that clock.
    /// - Throws: `ended` when root or targets have: a device would take nothing of it, and a clock that is ahead would
    ///   date signatures in the future. `clockBehind` for a clock that is certainly wrong.
    @discardableResult
    package func refresh(
        signing key: OnlineKey,
        at clock: UTCTime,
        acceptingClock: Bool = false
    ) throws(ServerError) -> RefreshedVersions {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        try checkHolds(state, at: clock)
        var plan = PublicationPlan()
        let now = try signingTime(over: state, at: clock, acceptingClock: acceptingClock)
        var fresh = try freshRoles(over: state, signing: key, at: now, acceptingClock: acceptingClock)
        if acceptingClock { fresh.currentDial = nil }
        let versions = try fresh.add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        _ = try carryOut(plan, over: state)
        return RefreshedVersions(app: app, versions, signedAt: now)
    }

    /// The time to sign with: the clock, or the time of the newest signature if the clock was set back by seconds since.
    ///
    /// - Parameters:
    ///   - signedAt: When the newest timestamp was signed.
    ///   - acceptingClock: See ``refresh(signing:at:acceptingClock:)``. A clock behind the program's build stays refused.
    /// - Throws: `clockBehind`.
    func signingTime(after signedAt: UTCTime?, at clock: UTCTime, acceptingClock: Bool = false) throws(ServerError)
        -> UTCTime
    {
        let signedAt = acceptingClock ? nil : signedAt
        if let behind = ClockBehind(clock: clock, signedAt: signedAt, build: folder.build) {
            throw .clockBehind(behind)
        }
        return signedAt.map { max($0, clock) } ?? clock
    }

    func signingTime(over state: PublishedState, at clock: UTCTime, acceptingClock: Bool = false) throws(ServerError)
        -> UTCTime
    {
        try signingTime(after: state.timestamp.signedAt, at: clock, acceptingClock: acceptingClock)
    }

    /// The signer of the next online roles, which keeps the published dial if the dial is unchanged.
    ///
    /// - Throws: `clockBehind`, before anything is signed or written.
    func freshRoles(
        over state: PublishedState,
        signing key: OnlineKey,
        at clock: UTCTime,
        acceptingClock: Bool = false
    ) throws(ServerError) -> FreshRoles {
        let now = try signingTime(over: state, at: clock, acceptingClock: acceptingClock)
        let used = try tree.usedVersions()
        return FreshRoles(
            signers: state.signers(key),
            next: try state.nextVersions(unused: used),
            now: now,
            currentDial: try state.currentDial(unused: used)
        )
    }

    /// Whether what the online key signs now is of use to anybody.
    func checkHolds(_ state: PublishedState, at now: UTCTime) throws(ServerError) {
        for (role, header) in [("root", state.root.header), ("targets", state.targets.header)]
        where header.expires <= now {
            throw .ended(role: role, expires: header.expires, at: now)
        }
    }
}
