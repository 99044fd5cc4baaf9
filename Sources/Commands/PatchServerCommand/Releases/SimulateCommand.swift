import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import FleetSimulation

/// `patchsrv simulate`: shows the effect of the published list and a different dial on a fleet.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Says what the published list and a dial would do to a fleet of devices; turns nothing.",
        discussion: """
            By the list and the dial as they are published, and what --dial and --pause say besides. Every device decides as devices
            do, and the table says how many get which version, and by the codes of `patchsync explain` why the others do not.
            `patchsign simulate --help` says what a fleet's file is.

            EXAMPLES
              patchsrv simulate --data /srv/patchline --channel production --fleet fleet.yaml
              patchsrv simulate --data /srv/patchline --channel production --dial web@1.5.0=25% --svg web.svg
            """
                + exitCodes(
                    [
                        .malformed: "a bad fleet file",
                        .refused: "--dial or --pause names a version that is not listed, or a tree does not verify",
                    ],
                    usual: .done,
                    .disk
                )
    )

    @OptionGroup var place: LocalChannelOptions
    @OptionGroup var options: SimulationOptions

    func run() async throws {
        try await reporting(json: place.json) {
            let fleet = try options.fleetOfFile()
            let (list, dial) = try place.repository.offered(in: place.channel)
            let turned = try options.dial(over: list.entries, app: list.app, channel: list.channel, base: dial)
            try await options.run(
                list.entries,
                withdrawn: list.withdrawnContents,
                dial: turned,
                fleet: fleet,
                json: place.json
            )
        }
    }
}
