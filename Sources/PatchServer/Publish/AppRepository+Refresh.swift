package import PatchFormat
import PatchTrust
package import ReleaseTree

extension AppRepository {
    /// Signs dial, snapshot and timestamp again; what they say stays the same.
    ///
    /// The caller holds the lock.
    /// - Throws: `ended` when root or targets have: a device would take nothing of it, and a clock that is ahead would
    ///   date what it signs in the future.
    @discardableResult
    package func refresh(signing key: OnlineKey, at now: UTCTime) throws(ServerError) -> RefreshedVersions {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        try checkHolds(state, at: now)
        let versions = try state.nextVersions(unused: try tree.usedVersions())
        var plan = PublicationPlan()
        try FreshRoles(signers: state.signers(key), versions: versions, now: now)
            .add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        _ = try carryOut(plan, over: state)
        return RefreshedVersions(app: app, versions, signedAt: now)
    }

    /// Whether what the online key signs now is of use to anybody.
    func checkHolds(_ state: PublishedState, at now: UTCTime) throws(ServerError) {
        for (role, header) in [("root", state.root.header), ("targets", state.targets.header)]
        where header.expires <= now {
            throw .ended(role: role, expires: header.expires, at: now)
        }
    }
}
