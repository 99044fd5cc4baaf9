import ArgumentParser
import CommandSupport
import Terminal

/// What the JSON of the device's commands looks like: JSON Schema, draft 2020-12.
///
/// Tests hold these against what the program prints; a member that is printed and not described fails them.
enum OutputSchema: String, CaseIterable, ExpressibleByArgument {
    case status, sync
    case dryRun = "dry-run"
    case events, error

    var text: String {
        switch self {
        case .status: Self.statusText
        case .sync: Self.syncText
        case .dryRun: Self.dryRunText
        case .events: Self.eventsText
        case .error: Self.errorText
        }
    }
}

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON schema of what a command prints with --json. No store, no network.",
        discussion: """
            status: one document · sync: one document · dry-run: the one of `sync --dry-run` · events: a line of `serve` · error: what any of them prints when it fails.
            Members and events may be added; what is described stays.

            EXAMPLES
              patchsync schema status >status.schema.json
              patchsync schema events | jq '.oneOf[].properties.event.const'
            """
                + exitCodes([:], usual: .done)
    )

    @Argument(help: "Whose.")
    var output: OutputSchema

    func run() {
        Console.standardOutput.line(output.text)
    }
}
