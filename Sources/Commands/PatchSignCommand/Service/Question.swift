import PatchFormat
import CommandKit

/// The confirmation before anything is signed.
enum Question {
    static let release = "Sign this release?"

    /// - Parameter roles: `root`, `targets`.
    static func about(_ roles: [String]) -> String { "Sign this \(roles.joined(separator: " and "))?" }

    /// Fails early if neither a terminal nor `--yes` can confirm.
    static func requireConfirmation(yes: Bool) throws(Failure) {
        guard yes || YesNoPrompt.isInteractive else { throw noTerminal }
    }

    /// Continues only after a yes.
    static func confirm(_ question: String, yes: Bool) throws(Failure) {
        guard !yes else { return }
        switch YesNoPrompt.ask(withChoice(question)) {
        case .yes: return
        case .no: throw Failure("not signed")
        case .noTerminal: throw noTerminal
        }
    }

    static func withChoice(_ question: String) -> String { "\(question) [y/N]" }

    private static var noTerminal: Failure {
        Failure("there is no terminal to ask whether to sign", hint: "--yes signs without asking", code: .usage)
    }
}
