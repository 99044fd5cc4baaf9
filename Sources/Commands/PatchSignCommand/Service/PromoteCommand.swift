import ArgumentParser
import CommandKit
import PatchFormat
import ReleaseClient

/// `patchsign promote`: releases another channel's list, in one command.
struct PromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Lists in a channel what another one lists: proposes, makes and signs it, and pushes it.",
        discussion: """
            For whoever proposes and signs alone; with several people it is `patchsign propose`, `patchsign pull --proposal` \
            and `patchsign push`. The release is made here, out of verified published bytes: bundles stay what they are, \
            byte by byte. It shows what changes and asks, unless --yes is given. A promotion that would list a version below the \
            channel's newest one is refused without --back: --yes does not allow it.

            The state of the server is compared with the last state that this machine saw. An older one is refused, as devices \
            refuse it; see --server-restored.

            With --output the fetched releases and the new one stay there, as `patchsign pull` writes them.

            EXAMPLES
              patchsign promote --from beta --channel production --rollout web=10% --keys Keys --push --server https://patches.example.com
              patchsign promote --from beta --channel production --keys Keys --output work --server https://patches.example.com
            """
                + exitCodes(
                    [
                        .done: "done (also when others still have to sign), or it is listed already",
                        .failed: "not signed because the answer was no, or an external signer failed",
                        .network: "no connection, or a server in trouble",
                        .conflict: "the output exists, or the channel moved on meanwhile",
                    ],
                    usual: .refused,
                    .malformed,
                    .disk
                )
    )

    @Option(help: ArgumentHelp("The channel whose list it is.", valueName: "name"), transform: parsed)
    var from: ChannelName

    @Option(help: ArgumentHelp("The channel that is to list it.", valueName: "name"), transform: parsed)
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
