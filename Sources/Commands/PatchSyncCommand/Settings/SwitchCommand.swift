import PatchChoice
import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync
import Patchline

struct SwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Start the pending version now, or follow another channel or server.",
        discussion: """
            A running `patchsync serve` switches within 100 ms and starts the startup
            timer. Postponed versions, and versions that wait for a window, start too.

            With --channel, the active version keeps running until a version of the new
            channel is confirmed. The old channel's versions are kept for a rollback. With
            --server, trust is kept: a list older than the known one is rejected. Both
            take effect at the next sync.

            EXAMPLES
              patchsync switch --store /var/lib/app
              patchsync switch --store /var/lib/app --channel dev
              patchsync switch --store /var/lib/app --server http://192.168.1.20:8080
            """
                + exitCodes(
                    [
                        .failed: "no version is pending, or the first version is still on trial"
                    ],
                    usual: .done,
                    .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Option(name: .long, help: "Follow this channel from now on.")
    var channel: String?

    @Option(name: .long, help: ArgumentHelp("Use this server from now on.", valueName: "url"))
    var server: String?

    func validate() throws {
        if let channel, ChannelName(channel) == nil { throw ValidationError("--channel \(ChannelName.rule)") }
        if let server, ServerURL(server) == nil { throw ValidationError("--server \(ServerURL.rule)") }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        guard channel == nil && server == nil else { return try await follow(device) }
        let activation = try await reporting { () throws(SyncError) in
            try await device.switchToPending(counting: .firstPage, isRequested: true)
        }
        // A running server follows the change, and logs it itself.
        if device.store.runningServers.isEmpty {
            switch activation {
            case .run(let selection, _): device.note([.serving(selection, trial: nil)], by: "switch")
            case .tryOut(let selection, let launch): device.note([.serving(selection, trial: launch)], by: "switch")
            case .nothing, .rolledBack, .unproven, .interrupted: break
            }
        }
        activation.print(options)
    }

    private func follow(_ old: Device) async throws(Failure) {
        let (device, state) = try await reporting { () throws(SyncError) in
            let device = try await old.following(
                channel: channel.flatMap { ChannelName($0) },
                server: server.flatMap { ServerURL($0) }
            )
            return (device, try device.state().machine.state)
        }
        let configuration = device.configuration
        guard !options.json else {
            return Console.standardOutput.line(configuration.followed(running: state.running).line)
        }
        Console.standardOutput.line("follows channel \(configuration.channel) of \(configuration.server)")
        Console.standardOutput.line(state.following)
    }
}

extension SelectionState {
    /// The active and the pending version after a change of channel or server, and the next step.
    var following: String {
        let runs = "runs \(running?.words ?? "nothing yet")"
        guard case .pending(_, let next) = self else { return "\(runs); next: patchsync sync" }
        return
            "\(runs); \(next.words) is downloaded and starts at the next launch or `patchsync switch`; next: patchsync sync"
    }
}
