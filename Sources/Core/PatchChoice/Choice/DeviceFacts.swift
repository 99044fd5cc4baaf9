package import PatchFormat
import PatchCrypto

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

/// SHA-256(salt ‖ device id), as one big-endian number, mod 10,000: stable, independent between releases, checkable offline.
package struct Cohort: Comparable, Sendable {
    package let number: Int

    package init(salt: [UInt8], deviceID: [UInt8]) {
        number = SHA256Digest(of: salt + deviceID).bytes.reduce(0) { ($0 * 256 + Int($1)) % 10_000 }
    }

    package static func < (left: Cohort, right: Cohort) -> Bool {
        left.number < right.number
    }
}

/// The native part of the app, to which a bundle must fit: `ios` and the hash that stands for what it offers.
package struct Platform: Hashable, Sendable {
    package static let rule = "must be 1 to 128 of printable ASCII without spaces"

    package let name: String
    /// Compared with the one that a manifest lists for `name`, byte for byte.
    package let compatibility: String

    package init?(name: String, compatibility: String) {
        for text in [name, compatibility] {
            guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                return nil
            }
        }
        self.name = name
        self.compatibility = compatibility
    }

    /// Whether a bundle that lists these hashes by platform may run here.
    package func fits(_ listed: [String: String]) -> Bool {
        listed[name].map { $0.utf8.elementsEqual(compatibility.utf8) } ?? false
    }
}

extension Platform {
    package var json: JSON {
        .fields([("name", .text(name)), ("compatibility", .text(compatibility))])
    }
}

/// What this copy of the engine knows of itself.
package enum Build {
    /// 2026-11-20: when this source was released; set anew for each release of Patchline.
    ///
    /// A constant, so that the same source gives the same program.
    package static let time = UTCTime(seconds: 1_795_132_800)
}
