package import PatchFormat
import PatchTrust

/// What this device says of itself when versions are chosen.
package struct DeviceFacts: Sendable {
    /// 16 random bytes, never sent.
    package let deviceID: [UInt8]
    package let appVersion: AppVersion?
    package let time: UTCTime
    /// A person asked to try again what waits after its first failed trial.
    package let retryNow: Bool

    package init(deviceID: [UInt8], appVersion: AppVersion?, time: UTCTime, retryNow: Bool = false) {
        self.deviceID = deviceID
        self.appVersion = appVersion
        self.time = time
        self.retryNow = retryNow
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

/// Why a listed version is not for this device, now.
package enum NotEligible: Equatable, Sendable {
    case rollout(cohort: Int, effective: Int)
    case paused(reason: String?)
    case dialMissing
    case appVersion(needs: String, has: String?)
    /// A rule that this device cannot judge.
    case unknownRule(String)
    case waiting(until: UTCTime)
    case blocked(until: UTCTime)
    /// This label is installed with other bytes.
    case republished
}

/// What becomes of one patch id (features J3 to J8, and the design's sticky rule).
package enum Choice: Equatable, Sendable {
    /// A listed version above the one the device has.
    case take(PatchEntry, over: InstalledPatch?)
    /// What it has, while that is listed.
    case keep(InstalledPatch)
    /// Nothing of this id, yet.
    case none
    /// What it has is no longer listed for it, and nothing else is: gone at the next launch.
    case withdraw(InstalledPatch)
}

/// A choice and why the versions before it were passed over.
package struct Decision: Equatable, Sendable {
    package let patchID: PatchID
    package let choice: Choice
    package let passedOver: [PassedOver]

    package struct PassedOver: Equatable, Sendable {
        package let version: VersionLabel
        package let why: NotEligible
    }

    /// Nothing changes for this id.
    init(_ patchID: PatchID, keeping current: InstalledPatch?) {
        self.patchID = patchID
        choice = current.map { .keep($0) } ?? .none
        passedOver = []
    }

    /// Takes the first listed version that the device is eligible for and that stands above the one it has.
    ///
    /// - Parameters:
    ///   - versions: of this id, in list order.
    ///   - hasRefused: whether an entry of this id was refused; then nothing is concluded from its absence.
    ///   - dial: nil without a valid one.
    package init(
        _ patchID: PatchID,
        versions: [PatchEntry],
        hasRefused: Bool,
        current: InstalledPatch?,
        dial: Dial?,
        blocks: TrialBlocks,
        device: DeviceFacts
    ) {
        self.patchID = patchID
        let place = current.flatMap { current in
            versions.firstIndex {
                $0.fingerprint.sha256 == current.fingerprint.sha256 && $0.rules.appVersionFits(device.appVersion)
            }
        }
        var passedOver: [PassedOver] = []
        for entry in versions[..<(place ?? versions.endIndex)] {
            guard let why = entry.obstacle(current: current, dial: dial, blocks: blocks, device: device) else {
                choice = .take(entry, over: current)
                self.passedOver = passedOver
                return
            }
            passedOver.append(PassedOver(version: entry.version, why: why))
        }
        self.passedOver = passedOver
        switch current {
        case nil: choice = .none
        case let current? where place != nil || hasRefused: choice = .keep(current)
        case let current?:
            // What came from another channel stays until this one brings a version of that id: it cannot withdraw what it
            // never listed, and a device has something to run.
            let stays = current.channel != nil || passedOver.contains(where: \.why.keepsTheOld)
            choice = stays ? .keep(current) : .withdraw(current)
        }
    }
}

extension NotEligible {
    /// Whether the version before stays although it is not listed any more: what took its place is no good here.
    fileprivate var keepsTheOld: Bool {
        switch self {
        case .waiting, .blocked, .republished: true
        case .rollout, .paused, .dialMissing, .appVersion, .unknownRule: false
        }
    }
}

extension PatchRules {
    func appVersionFits(_ version: AppVersion?) -> Bool {
        guard let appVersion else { return true }
        return version.map(appVersion.contains) ?? false
    }
}

extension PatchEntry {
    /// The first rule that keeps this version from a device that does not have it.
    func obstacle(
        current: InstalledPatch?,
        dial: Dial?,
        blocks: TrialBlocks,
        device: DeviceFacts
    ) -> NotEligible? {
        if let current, current.version == version, current.fingerprint.sha256 != fingerprint.sha256 {
            return .republished
        }
        guard rules.appVersionFits(device.appVersion) else {
            return .appVersion(needs: rules.appVersion?.text ?? "", has: device.appVersion?.text)
        }
        if let rule = rules.unknown.first { return .unknownRule(rule) }
        if rules.condition != nil { return .unknownRule("condition") }
        if rules.users != nil { return .unknownRule("users") }
        if !requires.isEmpty { return .unknownRule("requires") }
        switch blocks.standing(
            of: PatchContent(patchID: patchID, sha256: fingerprint.sha256),
            at: device.time,
            retryNow: device.retryNow
        ) {
        case .free: break
        case .waiting(let until): return .waiting(until: until)
        case .blocked(let until): return .blocked(until: until)
        }
        if dial == nil, rules.dial == .required { return .dialMissing }
        let row = dial?.row(patchID, fingerprint.sha256)
        if let row, row.paused { return .paused(reason: row.reason) }
        let effective = min(rules.rollout, row?.rollout ?? 10_000)
        let cohort = Cohort(salt: salt, deviceID: device.deviceID).number
        return effective > cohort ? nil : .rollout(cohort: cohort, effective: effective)
    }
}

extension NotEligible: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rollout(let cohort, let effective):
            "rolled out to \(effective) of 10,000; this device is number \(cohort)"
        case .paused(let reason): "paused" + (reason.map { ": \($0)" } ?? "")
        case .dialMissing: "needs a valid dial, and there is none"
        case .appVersion(let needs, let has): "for app versions \(needs); this is \(has ?? "unknown")"
        case .unknownRule(let rule): "has a rule that this device cannot judge: \(rule)"
        case .waiting(let until): "failed a trial here; next try after \(until)"
        case .blocked(let until): "failed its trials here; blocked until \(until)"
        case .republished: "is listed under a label that is installed with other bytes; refused"
        }
    }
}
