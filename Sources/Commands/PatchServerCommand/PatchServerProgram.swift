import PatchFormat
import ArgumentParser
import CommandKit
import PatchServer
import SystemPackage

/// `patchsrv`: receives, publishes and serves signed releases.
@main
struct PatchServerProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsrv",
        abstract: "Publish signed releases and serve them to devices.",
        discussion: """
            The server has one key, the online key, which signs the current state but
            approves no versions. Release keys approve the versions that devices run, and
            are never on the server.

            The server's place and settings can also be set by a variable (PATCHSRV_DATA
            for --data), or in a YAML file for all commands (--config, PATCHSRV_CONFIG):
            the options of serve,
            and --server, --token-file, --ca, --retries, --app, --channel, --keep
            and --protect. All other options, such as --json, must be typed.

            rollout, dial, parameters, answer, history, token and audit also work with a
            server on another machine: pass --server URL and a token in place of --data.

            EXAMPLES
              patchsrv quickstart dist                      (keys, a release of the folder dist and a server, to try it out)
              patchsrv init --data /srv/patchline --trust Keys --online-key online.key
              patchsrv publish Release --data /srv/patchline
              patchsrv serve --data /srv/patchline --port 8080
              patchsrv rollout web@1.4.2 50% --data /srv/patchline --channel production
              patchsrv rollout web@1.4.2 pause --data /srv/patchline --channel production --reason "checkout errors"
              patchsrv parameters set --data /srv/patchline --channel production banner="Sale until 8 pm"
              patchsrv trust --data /srv/patchline --trust Keys        (after patchsign root publish)
              patchsrv pages --upstream http://127.0.0.1:3000        (a site whose pages change in a few blocks)
              patchsrv blocks page.html        (whether a page's marks are as they were meant)
              patchsrv refresh --data /srv/patchline        (every six hours, where no serve does it)
              patchsrv status --data /srv/patchline         (every day, from cron)
              patchsrv export /srv/www --data /srv/patchline        (for a static host)
              patchsrv optimize --data /srv/patchline       (after a publish, where no serve does it)
              patchsrv packs --data /srv/patchline --channel production        (what updates cost)
              patchsrv gc --data /srv/patchline             (every day, from cron)
              patchsrv backup /backup/patchline --data /srv/patchline
              patchsrv check --data /srv/patchline --repair
              patchsrv doctor --data /srv/patchline
            """
                + exitCodes(
                    [
                        .done: "done, or done before",
                        .refused: "refused: something does not verify",
                        .malformed: "a file that was read is malformed",
                        .network: "the server of --server is unreachable or unavailable",
                        .busy: "another process uses the data folder or the port",
                        .conflict:
                            "conflict: another publication, draft, dial or parameter change was first",
                        .due: "something has expired, or must be signed soon (status, doctor)",
                    ],
                    usual: .disk
                ),
        subcommands: [
            QuickstartCommand.self,
            InitCommand.self, PublishCommand.self, RolloutCommand.self, DialCommand.self, ParametersCommand.self,
            AnswerCommand.self,
            TrustCommand.self, RefreshCommand.self, ServeCommand.self, PagesCommand.self, BlocksCommand.self,
            StatusCommand.self, ListCommand.self, DraftCommand.self, ProposalCommand.self, HistoryCommand.self,
            TokenCommand.self, AuditCommand.self,
            BackupCommand.self, RestoreCommand.self,
            OptimizeCommand.self, PacksCommand.self, SimulateCommand.self, ExportCommand.self, GarbageCommand.self,
            CheckCommand.self,
            DoctorCommand.self,
        ]
    )

    static func main() async {
        // Must precede the opening of a settings file.
        Console.occupyClosedStreams()
        do {
            guard let arguments = try CommandSettings.expanded(Array(CommandLine.arguments.dropFirst())) else { return }
            await runProgram(arguments) { command throws(Failure) in
                if let command = command as? any ServingCommand {
                    Console.outlastStreams(output: command.logFormat.lost, errors: command.logFormat.lost)
                }
                // `doctor` only reads, so it keeps the present user. Every other command writes, or opens the records, which also
                // writes.
                guard !(command is DoctorCommand) else { return }
                if let quickstart = command as? QuickstartCommand {
                    return try ActingOwner.take(on: [FilePath(argument: quickstart.into)])
                }
                guard let data = ResolvedSettings.options(in: arguments)["data"] else { return }
                try ActingOwner.take(on: [FilePath(argument: data)])
            }
        } catch {
            let failure = Failure(of: error) ?? Failure("\(error)")
            failure.report(to: .standardError)
            exit(withError: failure.code.asError)
        }
    }
}
