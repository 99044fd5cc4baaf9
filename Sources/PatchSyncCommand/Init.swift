import ArgumentParser
import CommandSupport
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage
import Terminal

struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a device's store from the root of trust that the app ships.",
        discussion: """
            The root comes from a file and never from the server: trust on first use is refused. Which app it is for stands
            in the root itself.

            EXAMPLE
              patchsync init --store /var/lib/app --root root.json --server https://updates.example.com --channel beta
            """
    )

    @OptionGroup var options: StoreOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The app's root of trust, root.json of `patchsign init`.", valueName: "file")
    )
    var root: String

    @Option(name: .long, help: ArgumentHelp("Where the published tree is served, without the app.", valueName: "url"))
    var server: String

    @Option(name: .long, help: "Which channel to follow.")
    var channel = "production"

    @OptionGroup var facts: FactOptions

    func validate() throws {
        guard ServerURL(server) != nil else { throw ValidationError("--server \(ServerURL.rule)") }
        guard ChannelName(channel) != nil else { throw ValidationError("--channel \(ChannelName.rule)") }
    }

    func run() async throws {
        let changes = try facts.changes()
        try await ending(json: options.json) { () throws(Failure) in try await work(changes) }
    }

    private func work(_ changes: FactChanges) async throws(Failure) {
        guard let server = ServerURL(server), let channel = ChannelName(channel) else {
            preconditionFailure("validated before")
        }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(.init(argument: root), limit: Limits.root)
        } catch { throw Failure("\(error)", hint: "--root wants the root.json of `patchsign init`.", exitCode: .disk) }
        let device = try await reporting { () throws(SyncError) in
            let store = try options.deviceStore
            try Device.create(
                store,
                server: server,
                channel: channel,
                facts: changes,
                root: bytes,
                allowsTestingKeys: Surroundings.allowsTestingKeys
            )
            return try Device(store, now: Surroundings.now)
        }
        let app = device.configuration.app
        if options.json {
            Console.standardOutput.line(
                JSON.fields([
                    ("app", .text(app.text)), ("channel", .text(channel.text)), ("server", .text(server.text)),
                    ("store", .text(device.store.root.string)),
                ]).line
            )
        } else {
            Console.standardOutput.line(
                "\(app), channel \(channel), from \(server): store made in \(device.store.root)"
            )
        }
    }
}
