import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import FleetSimulation
import SystemPackage

/// `patchsign simulate`: shows the effect of a list on a fleet, before it is signed.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Predict which versions a fleet of devices would install, before you sign.",
        discussion: """
            Each simulated device decides as real devices do. The table shows how many get which version, and why the
            others do not, by the codes of `patchsync explain`. Only rules count, not transfers: the result is each
            device's choice at its next successful sync. The same seed gives the same devices.

            --fleet names a YAML file of kinds of devices and their shares. Without it, all devices are new and have
            no facts set:
              devices:
                - {share: 70%, appVersion: 2.1, data: {region: eu}, installed: {web: 1.4.1}}
                - {share: 30%, appVersion: 1.9, consent: security, platform: {name: ios, compatibility: 5e5e}}

            EXAMPLES
              patchsign simulate Patches/shop/v2 --fleet fleet.yaml --previous v1.release
              patchsign simulate v2.release --fleet fleet.yaml --dial web@1.5.0=25% --svg v2.svg
              patchsign simulate v2.release --devices 50000 --json
            """
                + exitCodes(
                    [
                        .malformed: "an invalid description, release or fleet file",
                        .refused: "--dial or --pause names a version that is not listed",
                    ],
                    usual: .done,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The folder with release.yaml, or a release.", valueName: "folder"))
    var folder: String

    @Option(help: ArgumentHelp("The currently published release.", valueName: "dir"))
    var previous: String?

    @OptionGroup var options: SimulationOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let fleet = try options.fleetOfFile()
            let (app, channel, entries, withdrawn) = try await list()
            let dial = try options.dial(over: entries, app: app, channel: channel)
            try await options.run(entries, withdrawn: withdrawn, dial: dial, fleet: fleet, json: json)
        }
    }

    private typealias List = (
        app: AppID, channel: ChannelName, entries: [PatchEntry], withdrawn: [PatchID: Set<SHA256Digest>]
    )

    private func list() async throws(Failure) -> List {
        let base = try previous.map { (path) throws(Failure) in try Self.release(FilePath(argument: path)) }
        let path = FilePath(argument: folder)
        let files = DiskFiles()
        guard (try? files.status(of: path.at(ReleaseDescription.fileName))) ?? nil != nil else {
            let contents = try Self.release(path)
            return (contents.app, contents.channel, contents.list.entries, contents.list.withdrawnContents)
        }
        let described = try await signing { () async throws(SigningError) in
            try await ReleaseDraft.entries(describedIn: path, base: base, files: files) { id, total in
                reporter(ReleaseWork.label(of: .reading(id)))(total)
            }
        }
        return (
            described.description.app, described.description.channel, described.entries,
            base?.list.withdrawnContents ?? [:]
        )
    }

    private static func release(_ folder: FilePath) throws(Failure) -> ReleaseContents {
        do throws(ReleaseError) {
            return try ReleaseContents(try SignedRelease(folder: folder, files: DiskFiles()))
        } catch { throw Failure(SigningError.release(folder, error)) }
    }
}
