import PatchFormat
import ArgumentParser
import CommandKit
import DeviceOutput

extension OutputSchema: ExpressibleByArgument {}

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON schema of what a command prints with --json. No store, no network.",
        discussion: """
            status: one document · sync: one document · dry-run: the one of `sync --dry-run` · explain: one document · events: a line of `serve` · error: what any of them prints when it fails.
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
