import ArgumentParser
import CommandSupport
import Terminal

/// The program on every device.
@main
struct Patchsync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsync",
        abstract: "Keeps a device on a complete, approved version of its patches and bundles, and serves it.",
        discussion: """
            EXAMPLES
              patchsync init --store /var/lib/app --root root.json --server https://updates.example.com
              patchsync sync --store /var/lib/app
              patchsync serve --store /var/lib/app
              patchsync status --store /var/lib/app --json
            """
                + exitCodes(
                    [
                        .refused: "refused (signature, expiry, rollback)",
                        .busy: "busy (lock or port)",
                        .conflict: "there already, with other settings (init)",
                        .partial: "some patches failed, the rest is done",
                        .interrupted: "stopped by SIGINT or SIGTERM",
                    ],
                    usual: .done,
                    .failed,
                    .malformed,
                    .network,
                    .disk
                ),
        subcommands: [
            Init.self, SetFacts.self, Sync.self, Serve.self, Switch.self, Confirm.self, Rollback.self, Unblock.self,
            Status.self,
            Parameters.self, Verify.self,
            Schema.self, TestScript.self, TUF.self,
        ]
    )

    static func main() async {
        await runProgram(Array(CommandLine.arguments.dropFirst()))
    }
}
