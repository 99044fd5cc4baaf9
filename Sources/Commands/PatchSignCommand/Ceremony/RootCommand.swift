import ArgumentParser

/// `patchsign root`: drafts of root and targets, which the key holders exchange.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root",
        abstract: "Change root.json and targets.json, with key holders on separate machines.",
        discussion: """
            A draft is one file. Each holder inspects it, signs it on their own machine and sends it back. A draft
            with a change that cannot be described is refused. If one person holds the keys, use `patchsign rotate`,
            `delegate` and `revoke`: each does all steps.

            EXAMPLES
              patchsign root draft --keys Keys --output trust.draft --add-key root=dave.pub --remove-key root=carol.pub
              patchsign root inspect trust.draft --keys Keys
              patchsign root sign trust.draft --keys Keys --key root-alice.key
              patchsign root merge trust.draft bobs.draft --keys Keys
              patchsign root publish trust.draft --keys Keys
            """,
        subcommands: [
            RootDraftCommand.self, RootInspectCommand.self, RootSignCommand.self, RootMergeCommand.self,
            RootPublishCommand.self,
        ]
    )
}
