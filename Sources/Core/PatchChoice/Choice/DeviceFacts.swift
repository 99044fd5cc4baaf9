package import PatchFormat

/// What this device says of itself when versions are chosen; none of it is sent as it is (see ``DeviceQuestion``).
package struct DeviceFacts: Sendable {
    /// Always set, as on the devices that conditions were first written for; elsewhere they say "no such system".
    package static let builtIn: [ConditionKey: ConditionValue] = Dictionary(
        uniqueKeysWithValues: [("ios", "0.0"), ("iosver", "0"), ("ispad", "0")].map { key, value in
            guard let key = ConditionKey(key), let value = ConditionValue(value) else {
                preconditionFailure("these are in the grammar")
            }
            return (key, value)
        }
    )

    /// 16 random bytes.
    package let deviceID: [UInt8]
    package let appVersion: AppVersion?
    package let user: UserID?
    /// What conditions are judged by: the app's own data, over ``builtIn``.
    package let data: [ConditionKey: ConditionValue]
    package let platform: Platform?
    package let time: UTCTime
    /// A person asked to try again what waits after a failed trial or failed transfers.
    package let retryNow: Bool
    /// Which new versions it takes without asking anybody.
    package let consent: Consent

    package init(
        deviceID: [UInt8],
        appVersion: AppVersion? = nil,
        user: UserID? = nil,
        data: [ConditionKey: ConditionValue] = [:],
        platform: Platform? = nil,
        time: UTCTime,
        retryNow: Bool = false,
        consent: Consent = .automatic
    ) {
        self.deviceID = deviceID
        self.appVersion = appVersion
        self.user = user
        self.data = Self.builtIn.merging(data) { $1 }
        self.platform = platform
        self.time = time
        self.retryNow = retryNow
        self.consent = consent
    }
}
