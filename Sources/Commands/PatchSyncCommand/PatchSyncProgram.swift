import PatchFormat
import ArgumentParser
import CommandKit
import PatchDaemon

/// The program on every device.
@main
struct PatchSyncProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsync",
        abstract: "Keep a device on a complete, approved version of its patches and bundles, and serve it.",
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
                        .conflict: "exists with other settings (init)",
                        .partial: "some patches failed, the others succeeded",
                        .interrupted: "stopped by SIGINT or SIGTERM",
                    ],
                    usual: .done,
                    .failed,
                    .malformed,
                    .network,
                    .disk
                ),
        subcommands: [
            InitCommand.self, SetFactsCommand.self, SyncCommand.self, ServeCommand.self, SwitchCommand.self,
            ConfirmCommand.self, RollbackCommand.self, UnblockCommand.self,
            ApproveCommand.self, PostponeCommand.self,
            StatusCommand.self, ExplainCommand.self,
            LogCommand.self, RunCommand.self,
            ParametersCommand.self, VerifyCommand.self, DoctorCommand.self, MeteorCommand.self,
            SchemaCommand.self, TestScriptCommand.self, EvalCommand.self, ConsoleCommand.self, TUFCommand.self,
        ]
    )

    static func main() async {
        await runProgram(Array(CommandLine.arguments.dropFirst())) { command throws(Failure) in
            if let command = command as? any FolderCommand { try ActingOwner.take(on: command.ownersFolders) }
            if command is any LastingCommand { IdleExecutor.install() }
            guard let command = command as? any ServingCommand else { return }
            if command.json { Console.outlastStreams(output: LaunchEvents.lost) } else { Console.outlastStreams() }
        }
    }
}

/// A command that runs for days and is idle most of that time.
protocol LastingCommand: ServingCommand {}

/// A command that serves pages.
///
/// It continues if its output cannot be written.
protocol ServingCommand: AsyncParsableCommand {
    var json: Bool { get }
}
