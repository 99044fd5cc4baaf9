import PatchFormat
import ArgumentParser
import CommandKit

/// The program with the engine.
///
/// It checks script patches, and runs them on a sample host.
@main
struct PatchScriptProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchscript",
        abstract: "Check script patches, and run them on a sample host.",
        discussion: """
            EXAMPLES
              patchscript check fix-cart-total.js --host interface.json
              patchscript eval demo.js
            """ + exitCodes([:], usual: .done, .failed, .malformed, .disk),
        subcommands: [
            CheckCommand.self, EvalCommand.self, ConsoleCommand.self, RunScriptsCommand.self, InterfaceCommand.self,
        ]
    )

    static func main() async {
        await runProgram(Array(CommandLine.arguments.dropFirst()))
    }
}
