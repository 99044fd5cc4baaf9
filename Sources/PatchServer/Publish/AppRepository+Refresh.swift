package import PatchFormat
import PatchTrust
package import ReleaseTree

extension AppRepository {
    /// Signs snapshot and timestamp again, and the dial where it holds no longer; what they say stays the same.
    ///
    /// The caller holds the lock.
    /// - Throws: `ended` when root or targets have: a device would take nothing of it, and a clock that is ahead would
    ///   date what it signs in the future.
    @discardableResult
    package func refresh(signing key: OnlineKey, at now: UTCTime) throws(ServerError) -> RefreshedVersions {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        try checkHolds(state, at: now)
        var plan = PublicationPlan()
        let versions = try freshRoles(over: state, signing: key, at: now)
            .add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        _ = try carryOut(plan, over: state)
        return RefreshedVersions(app: app, versions, signedAt: now)
    }

    /// What signs the roles that follow the published ones, and keeps a dial that says the same.
    func freshRoles(over state: PublishedState, signing key: OnlineKey, at now: UTCTime) throws(ServerError)
        -> FreshRoles
    {
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
