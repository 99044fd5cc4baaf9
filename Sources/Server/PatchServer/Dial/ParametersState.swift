package import PatchFormat
import PatchCrypto
import PatchTrust

/// What a channel's online parameters are now.
package struct ParametersState: Equatable, Sendable {
    package let parameters: OnlineParameters

    init(_ parameters: OnlineParameters) {
        self.parameters = parameters
    }

    /// Names these very parameters, whatever else the dial's role says: the digest of their document.
    package var tag: SHA256Digest { SHA256Digest(of: parameters.json.fileBytes) }

    package var json: JSON {
        .fields([
            ("app", .text(parameters.app.text)), ("channel", .text(parameters.channel.text)),
            ("tag", .text(tag.hex)), ("parameters", parameters.values.json),
        ])
    }
}

/// What became of a change of parameters.
package enum ParametersOutcome: Equatable, Sendable {
    /// - Parameter from: nil where what was there cannot be read, and was replaced.
    case changed(from: ParametersState?, ParametersState, RefreshedVersions)
    /// They are so already; nothing was signed.
    case unchanged(ParametersState)

    package var state: ParametersState {
        switch self {
        case .changed(_, let state, _), .unchanged(let state): state
        }
    }

    /// For scripts and for the API.
    package var json: JSON {
        guard var members = state.json.object else { return state.json }
        switch self {
        case .changed(_, _, let roles):
            members["outcome"] = .text("changed")
            members["timestamp"] = .integer(roles.timestamp)
            members["snapshot"] = .integer(roles.snapshot)
            members["expires"] = .text(roles.expires.description)
        case .unchanged: members["outcome"] = .text("unchanged")
        }
        return .object(members)
    }
}
