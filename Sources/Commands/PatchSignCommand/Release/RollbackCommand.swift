import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import ReleaseClient

/// `patchsign rollback`: releases the list of an older release again, in one command.
struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "List an older release of a channel again: propose, make, sign and push it.",
        discussion: """
            The result is the channel's next release, with the verified bytes of the older one. `patchsrv history`
            shows all releases. Without --to nothing is done, and the hint is the complete command for the list before the
            current one, if it is certain. The command shows the changes and asks, unless --yes is given.

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
    var to: Int?

    @Option(help: ArgumentHelp("The channel.", valueName: "name"), transform: parsed)
    var channel: ChannelName

    @OptionGroup var options: ChangeOptions

    func validate() throws {
        guard to.map((1...(1 << 53 - 2)).contains) ?? true else { throw ValidationError("--to must be a version") }
    }

    func run() async throws {
        try await runCommand(json: options.json) { () async throws(Failure) in
            guard let to else { throw Self.missing(await hint()) }
            try await options.carryOut(.rollBack(to: to), in: channel)
        }
    }

    static func missing(_ hint: String) -> Failure {
        Failure("--to is needed: the release to go back to", hint: hint, code: .usage)
    }

    /// Names the release before, or the command that shows the releases if it is not certain or the server does not answer.
    private func hint() async -> String {
        let earlier = await earlier()
        return earlier?.hint(after: Array(CommandLine.arguments.dropFirst()))
            ?? Self.history(of: channel, options: options.server.operatorWords(withOwnToken: true))
    }

    static func history(of channel: ChannelName, options: String) -> String {
        "`patchsrv history --channel \(channel)\(options)` shows the releases"
    }

    private func earlier() async -> EarlierRelease? {
        guard let app = try? options.keys.rootOfTrust().app else { return nil }
        var server = options.server
        // Only the hint depends on the answer, so a server that is silent must not delay the error for minutes.
        server.retries = 0
        let history = try? await server.asking(longestDeadline: .seconds(5)) { client throws(ServiceError) in
            try await client.look("/apps/\(app)/channels/\(channel)/history?limit=\(EarlierRelease.rows)")
        }
        return history.flatMap { EarlierRelease(in: $0) }
    }
}
