import ArgumentParser
import CommandKit
import PatchFormat
import ReleaseClient

/// `patchsign promote`: releases another channel's list, in one command.
struct PromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "List another channel's versions in a channel: propose, make, sign and push the release.",
        discussion: """
            Use it if you propose and sign alone. With several signers, use `patchsign propose`, `patchsign pull
            --proposal` and `patchsign push`. The release is made here from verified published bytes; bundles keep
            their bytes. The command shows the changes and asks, unless --yes is given. A promotion below the
            channel's newest version needs --back; --yes does not allow it.

            The server's state is compared with the last state that this machine saw. An older one is refused, as
            devices refuse it; see --server-restored. With --output, the fetched releases and the new one are kept
            there, as `patchsign pull` writes them.

            EXAMPLES
              patchsign promote --from beta --channel production --rollout web=10% --keys Keys --push --server https://patches.example.com
              patchsign promote --from beta --channel production --keys Keys --output work --server https://patches.example.com
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

    @Option(help: ArgumentHelp("The channel to copy the list from.", valueName: "name"), transform: parsed)
    var from: ChannelName

    @Option(help: ArgumentHelp("The channel to change.", valueName: "name"), transform: parsed)
    var channel: ChannelName

    @Option(help: PromotedShare.help, transform: PromotedShare.init(_:))
    var rollout: [PromotedShare] = []

    @Flag(help: PromotionBack.help)
    var back = false

    @OptionGroup var options: ChangeOptions

    func run() async throws {
        try await runCommand(json: options.json) { () async throws(Failure) in
            try await options.carryOut(try .promotion(from: from, rollout), in: channel, mayGoBack: back)
        }
    }
}
