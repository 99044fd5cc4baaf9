import ArgumentParser
import CommandKit
import DeviceOutput
import PatchChoice
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import ReleaseFolder
import SystemPackage

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a device's store from the app's root of trust.",
        discussion: """
            The root of trust is read from a file, never from the server: trust on first
            use is not supported. It names the app. With --embedded, the folder of
            `patchsign embed`, the device has a complete version from its first start,
            offline. These files are verified once, used in place, and never copied or
            written.

            Mirrors are tried in order if the server or an earlier mirror fails, is behind
            or sends invalid data. They need no trust: all files are verified. The key for
            --pin is that of the server's own certificate:
              openssl s_client -connect HOST:443 </dev/null | openssl x509 -pubkey -noout |
                openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64

            Pages are served on a host of their own, http://NAME.localhost:PORT, whose
            cookies no other port of this machine receives. Use --host 127.0.0.1 for web
            views that cannot resolve such a name, and --host localhost for code that
            looks for the name localhost.

            A script may run the same command at each start: an existing store with the
            same settings is left as it is. Options that are not given are not compared,
            nor is --app-build.

            EXAMPLES
              patchsync init --store /var/lib/app --root root.json --server https://updates.example.com --channel beta
              patchsync init --store /var/lib/app --embedded /opt/app/patchline --server https://updates.example.com
              patchsync init --store /var/lib/app --root root.json --server https://updates.example.com \\
                --mirror https://cdn.example.net/updates --ca company-ca.pem
            """
                + exitCodes(
                    [
                        .done: "created, or exists with the same settings",
                        .refused: "the embedded files do not verify",
                        .conflict: "exists with other settings, which are named",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @OptionGroup var options: StoreOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The app's root of trust: root.json of `patchsign init` (default: that of --embedded).",
            valueName: "file"
        )
    )
    var root: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The files embedded in the app: the folder of `patchsign embed`.", valueName: "dir")
    )
    var embedded: String?

    @Option(name: .long, help: ArgumentHelp("URL of the published tree, without the app.", valueName: "url"))
    var server: String

    @OptionGroup(title: "Server") var servers: ServerOptions

    @Option(name: .long, help: "Channel to follow (default: that of --embedded, else production).")
    var channel: String?

    @OptionGroup(title: "Device") var facts: FactOptions

    @OptionGroup var build: AppBuildOption

    func validate() throws {
        guard root != nil || embedded != nil else { throw ValidationError("--root or --embedded is needed") }
        guard ServerURL(server) != nil else { throw ValidationError("--server \(ServerURL.rule)") }
        if let channel, ChannelName(channel) == nil { throw ValidationError("--channel \(ChannelName.rule)") }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let settings = try settings()
        let embedded = try embeddedFolder()
        let root = try rootBytes(embedded)
        guard let server = ServerURL(server) else { preconditionFailure("validated before") }
        let (creation, device) = try await reporting { () throws(SyncError) in
            let store = try options.deviceStore
            let creation = try Device.createOnce(
                store,
                server: server,
                channel: channel.flatMap { ChannelName($0) },
                facts: settings.facts,
                root: root,
                access: settings.changesAccess ? settings.access(ServerAccess()) : nil,
                machine: StoreOptions.machine,
                embedded: embedded,
                appBuild: build.appBuild.flatMap { AppBuild($0) }
            )
            return (creation, try Device(store, now: ProcessEnvironment.now))
        }
        if case .differs(let names) = creation {
            throw Failure(
                "\(device.store.root) is a store already, with other settings: \(names.joined(separator: "; "))",
                hint: "nothing was changed; "
                    + (names.contains { $0.hasPrefix("app (") }
                        ? "a store belongs to one app: name another folder with --store, or the root of trust of "
                            + "\(device.configuration.app) with --\(self.root == nil ? "embedded" : "root")."
                        : names.contains { $0.hasPrefix("root of trust (") }
                            ? "a store keeps the root of trust that it was made with: name that one, or another folder with --store."
                            : "`patchsync set` and `patchsync switch` change them, or choose another folder."),
                code: .conflict
            )
        }
        let running = try await reporting { () throws(SyncError) in try device.state().machine.state.running }
        report(device, running, isNew: creation == .made)
    }

    private func settings() throws(Failure) -> DeviceSettings {
        let facts = try facts.withFiles()
        let authorities = try servers.authorities()
        do throws(ValidationError) {
            var given = GivenOptions()
            try facts.add(to: &given)
            try servers.add(to: &given, authorities: authorities)
            return try given.settings()
        } catch {
            // The options alone were checked before.
            throw Failure(facts.named(error), code: .malformed)
        }
    }

    private func embeddedFolder() throws(Failure) -> EmbeddedFolder? {
        guard let path = embedded.map({ FilePath(asNamed: $0) }) else { return nil }
        do throws(ReleaseError) {
            return try EmbeddedFolder(path, files: DiskFiles())
        } catch { throw Failure(.embedded(path, error)) }
    }

    private func rootBytes(_ embedded: EmbeddedFolder?) throws(Failure) -> [UInt8] {
        if let root {
            let (path, bytes) = (FilePath(argument: root), try Self.read(root))
            // Other files of the same folder are often given by mistake: a role, or a key.
            let role = Self.role(in: bytes)
            guard role == "root" else {
                throw Failure(
                    role.map { "\(path) is the role \($0), not root" } ?? "\(path) is not a root of trust",
                    hint: "--root requires the root.json of `patchsign init`.",
                    code: .malformed
                )
            }
            return bytes
        }
        guard let embedded else { preconditionFailure("validated before") }
        do throws(ReleaseError) {
            return try embedded.root(files: DiskFiles())
        } catch { throw Failure(.embedded(embedded.path, error)) }
    }

    private static func read(_ root: String) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: root), limit: Limits.root) } catch {
            throw Failure("\(error)", hint: "--root requires the root.json of `patchsign init`.", code: .disk)
        }
    }

    /// The `_type` of a signed document, or nil for any other file.
    private static func role(in bytes: [UInt8]) -> String? {
        guard let json = try? JSON(parsing: bytes), case .string(let type) = json["signed"]?["_type"] else {
            return nil
        }
        return type.text
    }

    private func report(_ device: Device, _ running: Selection?, isNew: Bool) {
        let configuration = device.configuration
        guard !options.json else {
            return Console.standardOutput.line(
                JSON.fields([
                    ("app", .text(configuration.app.text)), ("channel", .text(configuration.channel.text)),
                    ("server", .text(configuration.server.text)), ("store", .text(device.store.root.string)),
                    ("embedded", configuration.embedded.map { .text($0.string) }),
                    ("appBuild", configuration.appBuild.map { .text($0.text) }),
                    ("running", running.map { .text($0.words) }), ("made", .bool(isNew)),
                ]).line
            )
        }
        Console.standardOutput.line(
            "\(configuration.app), channel \(configuration.channel), from \(configuration.server): "
                + (isNew
                    ? "store made in \(device.store.root)"
                    : "the store in \(device.store.root) has these settings already")
        )
        if isNew, let running { Console.standardOutput.line("runs the versions embedded in the app: \(running.words)") }
    }
}
