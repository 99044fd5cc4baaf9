import PatchChoice
import PatchFormat
import PatchSync

/// The JSON Schemas of the device's commands, draft 2020-12.
///
/// Tests compare these with the program's output. A printed member without a description fails them.
package enum OutputSchema: String, CaseIterable, Sendable {
    case status, sync
    case dryRun = "dry-run"
    case explain, events, error

    package var text: String {
        switch self {
        case .status: StatusDocument.document.schema
        case .sync: SyncDocument.document.schema
        case .dryRun: SyncForecast.document.schema
        case .explain: ExplanationDocument.document.schema
        case .events: EventDocument.all.schema
        case .error: Self.failure.schema
        }
    }

    /// The document of a failed command with `--json`.
    private static let failure = Document<JSON>(
        "error",
        title: "A command with --json that failed",
        "One document on standard output, besides the sentence on standard error."
    ) {
        Member(given: "error", reported)
    }

    private static let reported = Shape<JSON>.object {
        Member(given: "message", Shape.text)
        Member(given: "hint", Shape.text, isRequired: false)
        Member(
            given: "kind",
            Shape.text(pattern: "^[a-z]+$"),
            "The exit code's name: failed, refused, malformed, network, disk, busy, conflict, usage, interrupted; more may be added."
        )
        Member(given: "exitCode", Shape.integer(1...), "The exit code of the process.")
    }
}
