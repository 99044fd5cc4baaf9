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

    package init(app: AppID, timestamp: Int, snapshot: Int, dial: Int, expires: UTCTime) {
        self.app = app
        self.timestamp = timestamp
        self.snapshot = snapshot
        self.dial = dial
        self.expires = expires
    }

    init(app: AppID, _ versions: FreshRoles.Versions, signedAt now: UTCTime) {
        self.init(
            app: app,
            timestamp: versions.timestamp,
            snapshot: versions.snapshot,
            dial: versions.dial,
            expires: now.adding(FreshRoles.lifetime)
        )
    }
}
