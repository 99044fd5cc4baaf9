package import PatchFormat
import PatchCrypto

/// The facts about this device that versions are chosen by.
///
/// None of them is sent unchanged (see ``DeviceQuestion``).
package struct DeviceFacts: Sendable {
    /// Facts that are always set, because the first conditions were written for devices that have them.
    ///
    /// Elsewhere the values mean that the system does not exist.
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
    /// The values that conditions are evaluated with: the app's own data, over ``builtIn``.
    package let data: [ConditionKey: ConditionValue]
    package let platform: Platform?
    package let time: UTCTime
    /// Whether a person asked to retry versions that wait after a failed trial or failed transfers.
    package let retryNow: Bool
    /// The new versions that are installed without approval.
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

/// The number of a device: SHA-256(salt ‖ device id), as one big-endian number, mod 10,000.
///
/// It is stable, independent between releases, and can be checked offline.
package struct Cohort: Comparable, Sendable {
    package let number: Int

    package init(salt: [UInt8], deviceID: [UInt8]) {
        number = SHA256Digest(of: salt + deviceID).bytes.reduce(0) { ($0 * 256 + Int($1)) % 10_000 }
    }

    package static func < (left: Cohort, right: Cohort) -> Bool {
        left.number < right.number
    }
}

/// The native part of the app, which a bundle must match: a name such as `ios`, and a hash that represents its features.
package struct Platform: Hashable, Sendable {
    package static let rule = "must be 1 to 128 of printable ASCII without spaces"

    package let name: String
    /// Compared byte for byte with the hash in a manifest for `name`.
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

/// The facts that this copy of the engine contains about itself.
package enum Build {
    /// The release date of this source, 2026-11-20, which is updated for each release of Patchline.
    ///
    /// It is a constant, so that the same source produces the same program.
    package static let time = UTCTime(seconds: 1_795_132_800)
}
