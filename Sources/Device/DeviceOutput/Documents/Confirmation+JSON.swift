package import PatchChoice
package import PatchFormat
import PatchSync

/// The outcome of a confirmation that succeeded.
package struct ConfirmationResult: Equatable, Sendable {
    package let isNew: Bool
    package let selection: Selection

    /// The document of `patchsync confirm --json`.
    package var json: JSON { .fields([("result", .text(isNew ? "confirmed" : "alreadyConfirmed"))]) }

    package var words: String { (isNew ? "confirmed: " : "was confirmed before: ") + selection.words }
}

extension SelectionMachine.Confirmation {
    package func result() throws(Failure) -> ConfirmationResult {
        switch self {
        case .confirmed(let selection): return ConfirmationResult(isNew: true, selection: selection)
        case .alreadyConfirmed(let selection): return ConfirmationResult(isNew: false, selection: selection)
        case .nothingOnTrial(let selection):
            throw .nothingOnTrial(selection)
        case .otherLaunch: throw .otherLaunch
        case .nothingToConfirm: throw Failure(.nothingInstalled)
        }
    }
}

extension Failure {
    package static func nothingOnTrial(_ running: Selection) -> Failure {
        Failure(
            "nothing is on trial, so nothing was confirmed; the active version is \(running.words)",
            hint: "the token is of another launch, or of a version that was rolled back.",
            code: .refused
        )
    }

    package static let otherLaunch = Failure(
        "this token is not the one of the running trial; nothing was confirmed",
        hint: "`patchsync status` prints that token.",
        code: .refused
    )
}
