import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage
import Terminal

/// `patchsign release`: makes a signed release, or adds a signature to one.
struct Release: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a signed release from a folder, or adds a signature to one.",
        discussion: """
            patchsign release Patches/shop/v2 --keys Keys --previous v1.release --output v2.release
            patchsign release sign v2.release --keys Keys --key bob.key --previous v1.release
            patchsign release renew v2.release --keys Keys --output v3.release

            `patchsign release FOLDER` is short for `patchsign release make FOLDER`; its options are in \
            `patchsign release make --help`.
            """,
        subcommands: [ReleaseMake.self, ReleaseSign.self, ReleaseRenew.self],
        defaultSubcommand: ReleaseMake.self
    )
}

/// `patchsign release FOLDER`.
struct ReleaseMake: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Describes a folder and signs it as the next release of its channel (the default).",
        discussion: """
            FOLDER holds release.yaml and the files that it names. It describes the whole list of the channel: every \
            patch that the previous release lists must stand in it, with a new version or the same one.

            With --previous, signatures of unchanged files are kept. The previous release must verify and have all \
            its signatures; without it the release is the first one of its channel.

            Exit codes: 0 done (also when other key holders still have to sign); 3 refused; 4 bad description or \
            files; 6 disk; 8 the output exists; 64 usage.
            """
    )

    @Argument(help: ArgumentHelp("The folder with release.yaml.", valueName: "folder"))
    var folder: String

    @OptionGroup var making: MakingOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Option(help: ArgumentHelp("The release that is published now.", valueName: "dir"))
    var previous: String?

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func run() async throws {
        try await ending(json: json) { () async throws(Failure) in
            let folder = FilePath(argument: folder)
            let description = try signing { () throws(SigningError) in
                try ReleaseDescription(folder: folder, files: DiskFiles())
            }
            let work = try ReleaseWork(
                channel: description.channel,
                source: folder,
                previous: previous.map { FilePath(argument: $0) },
                time: time,
                making: making,
                keys: keys
            )
            let made = try await signing { () async throws(SigningError) in
                try await work.builder.release(description, in: folder)
            }
            try work.finish(made, json: json)
        }
    }
}
