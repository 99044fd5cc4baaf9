package import PatchFormat

extension AppRepository {
    /// Signs dial, snapshot and timestamp again; what they say stays the same.
    ///
    /// The caller holds the lock.
    @discardableResult
    package func refresh(signing key: OnlineKey, at now: UTCTime) throws(ServerError) -> RefreshedVersions {
        let state = try PublishedState(of: self)
        try checkOnlineKey(key, in: state)
        let versions = try state.nextVersions(unused: try usedVersions())
        var plan = PublicationPlan()
        try FreshRoles(signers: state.signers(key), versions: versions, now: now)
            .add(to: &plan, dials: try state.dials(), files: state.otherFiles)
        _ = try carryOut(plan)
        return RefreshedVersions(app: app, versions, signedAt: now)
    }
}

/// The versions that a refresh or a publish gave to the online roles.
package struct RefreshedVersions: Hashable, Sendable {
    package let app: AppID
    package let timestamp: Int
    package let snapshot: Int
    package let dial: Int
    package let expires: UTCTime

    init(app: AppID, _ versions: FreshRoles.Versions, signedAt now: UTCTime) {
        self.app = app
        timestamp = versions.timestamp
        snapshot = versions.snapshot
        dial = versions.dial
        expires = now.adding(FreshRoles.lifetime)
    }
}
