import ArgumentParser
import CommandKit
import PatchFormat
import ReleaseClient

/// `patchsign rollback`: releases the list of an older release again, in one command.
struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "List an older release of a channel again: propose, make, sign and push it.",
        discussion: """
            The result is the channel's next release, with the verified bytes of the older one. `patchsrv history`
            shows all releases. The command shows the changes and asks, unless --yes is given.

            EXAMPLES
              patchsign rollback --to 7 --channel production --keys Keys --push --server https://patches.example.com
              patchsign rollback --to 7 --channel production --keys Keys --output work --server https://patches.example.com
            """
                + exitCodes(
                    [
                        .done: "done (also if other signatures are missing), or already listed",
                        .failed: "not signed: the answer was no, or an external signer failed",
                        .network: "no connection, or a server error",
                        .conflict: "the output exists, or the channel has changed",
                    ],
                    usual: .refused,
                    .malformed,
                    .disk
                )
    )

    @Option(help: ArgumentHelp("The release to list again.", valueName: "version"))
    var to: Int

    @Option(help: ArgumentHelp("The channel.", valueName: "name"), transform: parsed)
    var channel: ChannelName

    @OptionGroup var options: ChangeOptions

    func validate() throws {
        guard (1...(1 << 53 - 2)).contains(to) else { throw ValidationError("--to must be a version") }
    }

    func run() async throws {
        try await runCommand(json: options.json) { () async throws(Failure) in
            try await options.carryOut(.rollBack(to: to), in: channel)
        }
    }
}
