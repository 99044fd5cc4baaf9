package import PatchFormat
import PatchCrypto
import PatchTrust

/// The current online parameters of a channel.
package struct ParametersState: Equatable, Sendable {
    package let parameters: OnlineParameters

    init(_ parameters: OnlineParameters) {
        self.parameters = parameters
    }

    /// The digest of the parameters' document.
    ///
    /// It identifies these parameters, regardless of the rest of the dial role.
    package var tag: SHA256Digest { SHA256Digest(of: parameters.json.fileBytes) }

    package var json: JSON {
        .fields([
            ("app", .text(parameters.app.text)), ("channel", .text(parameters.channel.text)),
            ("tag", .text(tag.hex)), ("parameters", parameters.values.json),
        ])
    }
}

/// The outcome of a change of parameters.
package enum ParametersOutcome: Equatable, Sendable {
    /// - Parameter from: nil if the previous parameters could not be read and were replaced.
    case changed(from: ParametersState?, ParametersState, RefreshedVersions)
    /// The parameters already have these values; nothing was signed.
    case unchanged(ParametersState)

    package var state: ParametersState {
        switch self {
        case .changed(_, let state, _), .unchanged(let state): state
        }
    }

    /// The result for scripts and the API.
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
