import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import SystemPackage
import Terminal

/// `patchsign withdraw`: the previous release with less in it.
struct Withdraw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a release that no longer lists a patch, or one version of it.",
        discussion: """
            patchsign withdraw fix-search --previous v2.release --keys Keys --output v3.release
            patchsign withdraw web --version 2.0.0 --previous v2.release --keys Keys --output v3.release

            Devices that run what is withdrawn take it back once they see the new list: they fall to the version \
            that still stands there, or to none.

            Exit codes: 0 done; 3 refused; 4 the previous release does not list it; 6 disk; 8 the output exists; \
            64 usage.
            """
    )

    @Argument(help: ArgumentHelp("The patch's id.", valueName: "patch"), transform: parsed)
    var patch: PatchID

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("Only this version.", valueName: "version"),
        transform: parsed
    )
    var patchVersion: VersionLabel?

    @Option(help: ArgumentHelp("The release that is published now.", valueName: "dir"))
    var previous: String

    @OptionGroup var making: MakingOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var time: TimeOption

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func run() async throws {
        try await ending(json: json) { () async throws(Failure) in
            let trust = try keys.rootOfTrust()
            let base = try ReleaseWork.base(FilePath(argument: previous), trust)
            let work = try ReleaseWork(
                channel: base.contents.channel,
                base: base,
                trust: trust,
                time: try time.time(),
                making: making,
                keys: keys
            )
            let made = try await signing { () async throws(SigningError) in
                try await work.builder.withdraw(patch, version: patchVersion, from: base)
            }
            try work.finish(made, json: json)
        }
    }
}
