extension NotEligible {
    /// Which rule it is, as programs tell them apart.
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
