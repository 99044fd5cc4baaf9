package import PatchFormat

/// Why a listed version is not eligible for this device now.
package indirect enum NotEligible: Equatable, Sendable {
    case rollout(cohort: Int, effective: Int)
    case paused(reason: String?)
    case dialMissing
    case appVersion(needs: String, has: String?)
    case condition(String)
    /// Its condition cannot be parsed by this device.
    case malformedCondition(Condition.Problem)
    case users(isKnown: Bool)
    /// It has a rule that is unknown to this device.
    case unknownRule(String)
    /// Its trial failed once on this device.
    case waiting(until: UTCTime)
    case blocked(until: UTCTime)
    /// It was rolled back by hand.
    case rolledBackByHand(until: UTCTime)
    /// Its downloads failed too often.
    case transferWaiting(failures: Int, until: UTCTime)
    /// It was not received in this sync.
    ///
    /// Versions below it are not considered, because a failed patch stays at its version (P7).
    case notReceived
    /// It waits for an unmetered network. Versions below it are not considered either.
    case metered(MeteredWait)
    /// It does not fit on the disk. Versions below it are not considered either.
    case noRoom(SpaceShortage)
    /// Its manifest requires another native part.
    case incompatible(Platform)
    /// Its label is installed with other bytes.
    case republished
    /// It requires a version of another patch that this device does not get.
    ///
    /// `because` is the obstacle to that version, if it is listed.
    case unmet(requires: PatchID, because: NotEligible?)
    /// An installed, listed patch requires the version that this one would replace.
    case breaks(Label)
    /// It waits for approval.
    case unapproved(Label)
    /// The number of devices is limited, and this device has no place (J6).
    case noPlace(headcount: Int)
    /// The server holds this device's user at the present version (E8).
    case held
    /// The server chose this other version for this device's user (E8).
    case notChosen(VersionLabel)
}

extension NotEligible {
    /// The maximum number of reported reasons of a chain: the nearest ones and the one at its root.
    private static let reasonLimit = 8

    /// A missing requirement, with the obstacle to it.
    static func missing(_ id: PatchID, because cause: NotEligible?) -> NotEligible {
        var (length, next) = (0, cause)
        while case .unmet(_, let behind)? = next { (length, next) = (length + 1, behind) }
        let cause = length < reasonLimit ? cause : cause?.withoutOneBeforeItsRoot
        return .unmet(requires: id, because: cause)
    }

    private var withoutOneBeforeItsRoot: NotEligible {
        guard case .unmet(let id, let cause?) = self, case .unmet(_, let behind) = cause else { return self }
        guard case .unmet? = behind else { return .unmet(requires: id, because: behind) }
        return .unmet(requires: id, because: cause.withoutOneBeforeItsRoot)
    }
}

extension NotEligible {
    /// Whether the earlier version stays although it is no longer listed, because its replacement is not usable on this device.
    var keepsOldVersion: Bool {
        switch self {
        case .waiting, .blocked, .rolledBackByHand, .transferWaiting, .notReceived, .metered, .noRoom, .incompatible,
            .republished, .unapproved:
            true
        case .unmet(_, let because): because?.keepsOldVersion ?? false
        case .rollout, .paused, .dialMissing, .appVersion, .condition, .malformedCondition, .users, .unknownRule,
            .breaks, .noPlace, .held, .notChosen:
            false
        }
    }
}

extension NotEligible {
    var isMetered: Bool { if case .metered = self { true } else { false } }

    /// Whether only approval is missing.
    package var isUnapproved: Bool { if case .unapproved = self { true } else { false } }

    /// Whether the version could not be downloaded now, but may be later.
    var isTemporary: Bool {
        switch self {
        case .notReceived, .metered, .noRoom, .transferWaiting: true
        default: false
        }
    }

    /// Whether this version must be installed next, so that no version below it replaces it.
    var isDue: Bool {
        switch self {
        case .notReceived, .metered, .noRoom: true
        default: false
        }
    }
}

extension NotEligible {
    /// Whether only the server, and no rule signed by release keys, excludes this version.
    func isServerDecision(holding entry: PatchEntry) -> Bool {
        switch self {
        case .paused, .dialMissing, .noPlace, .held, .notChosen: true
        case .rollout(let cohort, _): cohort < entry.rules.rollout
        default: false
        }
    }
}

extension NotEligible {
    /// Whether the reason may end by itself, so that the version's history is worth keeping.
    var isPostponed: Bool {
        switch self {
        case .waiting, .transferWaiting, .notReceived, .metered, .noRoom, .paused, .dialMissing, .noPlace, .held,
            .notChosen, .unapproved:
            true
        case .unmet(_, let because): because?.isPostponed ?? false
        case .blocked, .rolledBackByHand, .rollout, .appVersion, .condition, .malformedCondition, .users, .unknownRule,
            .incompatible, .republished, .breaks:
            false
        }
    }
}

extension NotEligible {
    /// Whether the reason is this device's history with the version, not a rule about devices.
    package var isDeviceHistory: Bool {
        switch self {
        case .waiting, .blocked, .rolledBackByHand, .transferWaiting, .notReceived, .metered, .noRoom, .incompatible:
            true
        case .rollout, .paused, .dialMissing, .appVersion, .condition, .malformedCondition, .users, .unknownRule,
            .republished, .unmet, .breaks, .noPlace, .held, .notChosen, .unapproved:
            false
        }
    }
}

extension NotEligible: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rollout(let cohort, let effective):
            "rolled out to \(Words.grouped(effective)) of 10,000; this device is number \(Words.grouped(cohort))"
        case .paused(let reason): "paused" + (reason.map { ": \($0)" } ?? "")
        case .dialMissing: "needs a valid dial, but there is none"
        case .appVersion(let needs, let has):
            "needs app version \(needs); "
                + (has.map { "this is \($0)" } ?? "this device's is not set (`patchsync set --app-version`)")
        case .condition(let text): "for devices with \(text); this one is not"
        case .malformedCondition(let problem): "its condition \(problem)"
        case .users(let isKnown): "for some users; " + (isKnown ? "this one is not among them" : "none is set here")
        case .unknownRule(let rule): "has a rule that this device cannot judge: \(rule)"
        case .waiting(let until): "failed a trial here; next try after \(until)"
        case .blocked(let until):
            "failed its trials here; blocked until \(until), or until `patchsync unblock`"
        case .rolledBackByHand(let until):
            "rolled back here by hand; blocked until \(until), or until `patchsync unblock`"
        case .transferWaiting(let failures, let until):
            "could not be fetched \(failures) times; next try after \(until)"
        case .notReceived: "could not be fetched"
        case .metered(let wait): "put off while metered: \(wait)"
        case .noRoom(let wait): wait.description
        case .incompatible(let platform):
            "made for another native part; this device is \(platform.name) \(platform.compatibility)"
        case .republished: "is listed under a label that is installed with other bytes; refused"
        case .unmet(let id, let because):
            "requires a version of \(id) that this device does not get" + (because.map { " (\($0))" } ?? "")
        case .breaks(let label): "would break a requirement of \(label)"
        case .unapproved(let label): "waits for approval (`patchsync approve \(label.patchID)@\(label.version)`)"
        case .noPlace(let headcount): "waits for a place: open to \(Words.count(headcount, "device"))"
        case .held: "held by the server"
        case .notChosen(let version): "the server chose \(version)"
        }
    }
}

extension NotEligible {
    /// A stable code for programs.
    package var code: String {
        switch self {
        case .rollout: "rollout"
        case .paused: "paused"
        case .dialMissing: "dialMissing"
        case .appVersion: "appVersion"
        case .condition, .malformedCondition: "condition"
        case .users: "users"
        case .unknownRule: "unknownRule"
        case .waiting: "waiting"
        case .blocked: "blocked"
        case .rolledBackByHand: "rolledBackByHand"
        case .transferWaiting: "transferWaiting"
        case .notReceived: "notReceived"
        case .metered: "metered"
        case .noRoom: "noRoom"
        case .incompatible: "incompatible"
        case .republished: "republished"
        case .unmet: "unmet"
        case .breaks: "breaks"
        case .unapproved: "unapproved"
        case .noPlace: "noPlace"
        case .held: "held"
        case .notChosen: "notChosen"
        }
    }
}
