import ArgumentParser
import Terminal

/// `patchsign`: makes keys, describes and signs releases; the only program that reads a release key.
@main
struct PatchSign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchsign",
        abstract: "Makes keys, describes a release, and signs it.",
        discussion: """
            patchsign init --app com.example.shop --keys Keys
            patchsign release Patches/shop/v1 --keys Keys --output v1.release
            patchsign inspect v1.release
            patchsign verify v1.release --keys Keys

            A signed release is a folder that goes to `patchsrv publish`, or with `patchsign push` to a server.

            Exit codes: 0 done; 1 an external signer failed; 3 refused (a signature, key, PIN or rule of trust does not \
            hold, or a quorum is incomplete); 4 a document that was read is not what it should be; 5 an external signer \
            gave no signature in time; 6 a file could not be read or written; \
            8 a result is there already, or a base is not the one a release was made from; 9 done in part: a draft \
            waits for other holders; 10 something must be signed soon (`status`); 64 the command line was not understood.

            What takes an optional passphrase asks on the terminal when none is given. Secrets are never printed.
            """,
        subcommands: [
            Init.self, Key.self, Release.self, Withdraw.self, Inspect.self, Verify.self, Embed.self, Root.self,
            Rotate.self,
            Delegate.self, Revoke.self, Status.self, JSPatch.self, Push.self,
            Pull.self, Propose.self,
        ]
    )
}
