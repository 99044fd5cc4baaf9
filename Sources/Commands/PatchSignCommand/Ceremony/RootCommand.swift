import ArgumentParser

/// `patchsign root`: drafts of root and targets, which the key holders exchange.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root",
        abstract: "Changes root.json and targets.json, with holders on separate machines.",
        discussion: """
            A draft is one file. Each holder looks at it, signs it on a machine of their own, and sends it back. What \
            it changes that has no words is refused. Where one person holds the keys, `patchsign rotate`, `delegate` \
            and `revoke` do all of it at once.

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
