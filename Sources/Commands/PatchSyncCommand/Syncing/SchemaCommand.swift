import PatchFormat
import ArgumentParser
import CommandKit
import DeviceOutput

extension OutputSchema: ExpressibleByArgument {}

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON schema of a command's --json output. No store, no network.",
        discussion: """
              status     the document of `status`
              sync       the document of `sync`
              dry-run    the document of `sync --dry-run`
              explain    the document of `explain`
              events     a line of `serve`
              error      the document of any of these commands when it fails

            Later versions may add members and events, but keep the described ones.

            EXAMPLES
              patchsync schema status >status.schema.json
              patchsync schema events | jq '.oneOf[].properties.event.const'
            """
                + exitCodes([:], usual: .done)
    )

    @Argument(help: "The output to describe.")
    var output: OutputSchema

    func run() {
        Console.standardOutput.line(output.text)
    }
}
