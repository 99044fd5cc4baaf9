package import PatchFormat

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
