/// What the JSON of the device's commands looks like: JSON Schema, draft 2020-12.
///
/// Tests hold these against what the program prints; a member that is printed and not described fails them.
package enum OutputSchema: String, CaseIterable, Sendable {
    case status, sync
    case dryRun = "dry-run"
    case explain, events, error

    package var text: String {
        switch self {
        case .status: Self.statusText
        case .sync: Self.syncText
        case .dryRun: Self.dryRunText
        case .explain: Self.explainText
        case .events: Self.eventsText
        case .error: Self.errorText
        }
    }
}
