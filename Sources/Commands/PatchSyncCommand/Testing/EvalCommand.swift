import PatchFormat
import ArgumentParser
import CommandKit

struct EvalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval",
        abstract: "Run a local script on a sample host, in place of all patches.",
        discussion: """
            For app developers: the store must be in debug mode. None of its scripts run,
            and it does not change. Runs `patchscript eval`, whose help describes the
            sample host.

            EXAMPLES
              patchsync set --store /var/lib/app --debug
              patchsync eval --store /var/lib/app demo.js
            """
                + exitCodes([
                    .done: "Success",
                    .refused: "the store is not in debug mode",
                    .malformed: "UnKnownError: not text, not a program, or it threw, at once or later",
                    .disk: "script or store could not be read, or patchscript is not installed",
                ])
    )

    @OptionGroup var store: DebugStoreOption

    @Argument(help: ArgumentHelp("The script; its name must end with .js.", valueName: "file.js"))
    var file: String

    func validate() throws {
        guard file.hasSuffix(".js") else { throw ValidationError("the name of a test script ends with .js") }
    }

    func run() async throws {
        try await runCommand { () throws(Failure) in
            _ = try store.inDebugMode()
            try EngineProgram.become(["eval", "--", file])
        }
    }
}
