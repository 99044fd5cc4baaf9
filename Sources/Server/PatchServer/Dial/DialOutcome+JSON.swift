package import PatchFormat

extension DialOutcome {
    /// For scripts and for the API.
    package var json: JSON {
        guard var members = state.json.object else { return state.json }
        switch self {
        case .turned(_, let roles):
            members["outcome"] = .text("turned")
            members["timestamp"] = .integer(roles.timestamp)
            members["snapshot"] = .integer(roles.snapshot)
            members["expires"] = .text(roles.expires.description)
        case .unchanged: members["outcome"] = .text("unchanged")
        }
        return .object(members)
    }
}
