package import PatchChoice
package import PatchFormat

extension SelectionMachine.Activation {
    /// The document of `patchsync switch --json` and `rollback --json`.
    package var json: JSON {
        .fields([("result", .text(name)), ("launch", launch.map { .text($0.text) })])
    }

    /// The launch that a program has to confirm.
    package var launch: LaunchToken? {
        if case .tryOut(_, let token) = self { token } else { nil }
    }

    private var name: String {
        switch self {
        case .nothing: "nothing"
        case .run: "run"
        case .tryOut: "trying"
        case .rolledBack: "rolledBack"
        case .unproven: "unproven"
        case .interrupted: "interrupted"
        }
    }
}
