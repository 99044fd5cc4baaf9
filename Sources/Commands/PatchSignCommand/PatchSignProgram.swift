import PatchFormat
import ArgumentParser
import CommandKit

/// `patchsign`: makes keys, describes and signs releases; the only program that reads release keys.
@main
struct PatchSignProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsign",
        abstract: "Make keys, describe a release, and sign it.",
        discussion: """
            A signed release is a folder. Publish it with `patchsrv publish`, or upload it with `patchsign push`.

            Without a passphrase option, a command asks on the terminal. Secrets are never printed.

            EXAMPLES
              patchsign init --app com.example.shop --keys Keys
              patchsign release Patches/shop/v1 --keys Keys --output v1.release
              patchsign inspect v1.release
              patchsign verify v1.release --keys Keys
            """
                + exitCodes(
                    [
                        .failed: "an external signer failed",
                        .refused:
                            "refused: an invalid signature, key or PIN, a rule of trust, or an incomplete quorum",
                        .malformed: "a document is not valid",
                        .network: "an external signer timed out",
                        .conflict: "a result already exists, or a release was made from another base",
                        .partial: "done in part: a draft waits for other signatures",
                        .due: "something must be signed soon (`status`)",
                    ],
                    usual: .done,
                    .disk
                ),
        subcommands: [
            InitCommand.self, KeyCommand.self, DescribeCommand.self, ReleaseCommand.self, WithdrawCommand.self,
            InspectCommand.self,
            VerifyCommand.self, SimulateCommand.self, EmbedCommand.self, RootCommand.self,
            RotateCommand.self,
            DelegateCommand.self, RevokeCommand.self, StatusCommand.self, JSPatchCommand.self, PackCommand.self,
            PushCommand.self,
            PullCommand.self, ProposeCommand.self, PromoteCommand.self, RollbackCommand.self,
        ]
    )

    static func main() async {
        await runProgram(Array(CommandLine.arguments.dropFirst()))
    }
}
