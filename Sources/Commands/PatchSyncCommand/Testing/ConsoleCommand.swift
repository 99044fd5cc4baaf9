import PatchFormat
import ArgumentParser
import CommandKit
import PatchSync
import SystemPackage

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Evaluate standard input on a sample host, beside the store's active scripts.",
        discussion: """
            For app developers: the store must be in debug mode, and does not change. Runs
            `patchscript console`.

            EXAMPLES
              patchsync console --store /var/lib/app
              echo 'new (require("CartController"))().total()' | patchsync console --store /var/lib/app
            """
                + exitCodes([
                    .done: "end of the input",
                    .refused: "the store is not in debug mode",
                    .disk: "the store could not be read, or patchscript is not installed",
                ])
    )

    @OptionGroup var store: DebugStoreOption

    func run() async throws {
        try await runCommand { () throws(Failure) in
            let device = try store.inDebugMode()
            try EngineProgram.become(["console", "--store", device.store.root.string])
        }
    }
}
