import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage

/// `patchsign release`: makes a signed release, or adds a signature to one.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Make a signed release from a folder, or add a signature to one.",
        discussion: """
            `patchsign release FOLDER` is short for `patchsign release make FOLDER`. For its options, see `patchsign
            release make --help`.

            EXAMPLES
              patchsign release Patches/shop/v2 --keys Keys --server https://patches.example.com --output v2.release
              patchsign release --check Patches/shop/v2 --keys Keys --previous v1.release
              patchsign release sign v2.release --keys Keys --key bob.key --previous v1.release
              patchsign release renew --channel production --server https://patches.example.com --keys Keys --output v3.release
            """,
        subcommands: [ReleaseMakeCommand.self, ReleaseSignCommand.self, ReleaseRenewCommand.self],
        defaultSubcommand: ReleaseMakeCommand.self
    )
}
