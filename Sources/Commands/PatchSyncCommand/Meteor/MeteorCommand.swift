import ArgumentParser
import CommandKit
import DeviceOutput
import GatewayClients
import Gateways
import PatchChoice
import PatchFormat
import PatchStore
import Patchline
import SystemPackage
import UnixSignals

struct MeteorCommand: ServingCommand {
    static let configuration = CommandConfiguration(
        commandName: "meteor",
        abstract: "Serve an app that Meteor built, and go on following its Meteor server.",
        discussion: """
            What comes from a Meteor server is not signed: whoever answers in its name decides what this device runs. So it has
            a folder of its own and needs --unsigned; for everything else there is `patchsync serve`.

            A new version is fetched as Meteor's client does it, waits for the page's switch or the next start, and is taken back
            where it does not say in time that it started. The page API answers what WebAppLocalServer does for a Cordova app.

            EXAMPLES
              patchsync meteor --store /var/lib/shop --bundle www/application --root-url https://shop.example/ --unsigned
              patchsync meteor --store shop --bundle www/application --root-url https://shop.example/ --unsigned --look-every 600
            """
                + exitCodes(
                    [
                        .done: "stopped",
                        .malformed: "what the app brought is no Meteor app",
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @Option(name: .long, help: ArgumentHelp("Where versions are kept.", valueName: "dir"))
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp("What the app brought: index.html and program.json beside its files.", valueName: "dir")
    )
    var bundle: String

    @Option(name: .long, help: ArgumentHelp("The app's ROOT_URL.", valueName: "url"))
    var rootURL: String

    @Flag(name: .long, help: "Take versions that nobody signed.")
    var unsigned = false

    @Option(name: .long, help: "Whose compatibility hash counts: android or ios.")
    var platform = "android"

    @Option(
        name: .long,
        help: ArgumentHelp("The hash of the native part, where it is not that of the bundle.", valueName: "hash")
    )
    var compatibility: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Look at the start and then so often; else when a page asks.", valueName: "seconds")
    )
    var lookEvery: Int?

    @Option(name: .long, help: ArgumentHelp("How long a version has to say that it started.", valueName: "ms"))
    var startupTimeout = 20_000

    @Option(
        name: .long,
        help: ArgumentHelp("Bytes that one version may make this device download (default: 500MB).", valueName: "bytes")
    )
    var downloadLimit: ByteCountArgument?

    @Option(name: .long, help: "The port; the app's own without it, 0 for any.")
    var port: Int?

    @Flag(
        name: .long,
        help:
            "Serve pages on 127.0.0.1, for web views that resolve no NAME.localhost; other programs on this machine can get their cookies."
    )
    var noOwnHost = false

    @Flag(name: .long, help: "Print JSON instead of text: an object a line.")
    var json = false

    func validate() throws {
        guard unsigned else {
            throw ValidationError("nothing that comes from a Meteor server is signed: --unsigned says that it is taken")
        }
        guard ServerURL(rootURL) != nil else { throw ValidationError("--root-url \(ServerURL.rule)") }
        guard MeteorManifest.Platform(rawValue: platform) != nil else {
            throw ValidationError("--platform must be android or ios")
        }
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be from 0 to 65535") }
        if let lookEvery, !(1...31_536_000).contains(lookEvery) {
            throw ValidationError("--look-every must be from 1 to 31536000 seconds")
        }
        guard (1...3_600_000).contains(startupTimeout) else {
            throw ValidationError("--startup-timeout must be from 1 to 3600000 milliseconds")
        }
    }

    func run() async throws {
        try await runCommand(json: json, work)
    }

    private func work() async throws(Failure) {
        guard let root = ServerURL(rootURL), let platform = MeteorManifest.Platform(rawValue: platform) else { return }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let folder = FilePath(argument: store)
        var settings = MeteorServer.Settings()
        settings.port = port
        settings.hasOwnHost = !noOwnHost
        if let downloadLimit { settings.downloadLimit = downloadLimit.bytes }
        settings.interval = lookEvery.map { .seconds($0) }
        settings.startupTimeout = .milliseconds(startupTimeout)
        guard (try? DiskFiles().status(of: folder.at("config.json"))) == nil else {
            throw Failure(
                "\(folder) is a store of `patchsync init`",
                hint: "what nobody signs has a folder of its own.",
                code: .usage
            )
        }
        let lock = try Self.locked(folder)
        defer { withExtendedLifetime(lock) {} }
        let told = MeteorLines(json: json)
        let server: MeteorServer
        do throws(MeteorClientError) {
            server = try MeteorServer(
                root: root,
                folder: folder,
                bundle: FilePath(argument: bundle),
                platform: platform,
                compatibility: compatibility,
                settings: settings,
                report: told.take
            )
        } catch { throw Failure(error) }
        Console.standardError.line(
            "warning: nobody signs what comes from \(root): whoever answers in its name decides what runs here"
        )
        let failure: Failure? = await withTaskGroup(of: Failure?.self) { group in
            group.addTask {
                do {
                    try await server.run { told.listening($0) }
                    return nil
                } catch let error as MeteorClientError {
                    return Failure(error)
                } catch LocalServerError.portInUse(let port) {
                    return Failure(
                        "port \(port) is taken by another program",
                        hint: "stop it, or choose another with --port; pages lose their storage then.",
                        code: .busy
                    )
                } catch let error as LocalServerError {
                    return Failure(error)
                } catch { return Failure("\(error)") }
            }
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let failure { throw failure }
    }
}

extension MeteorCommand {
    /// Locks the folder, so that only one process follows a server into it.
    private static func locked(_ folder: FilePath) throws(Failure) -> StoreLock {
        do throws(StoreLockError) {
            if let fault = DiskFiles().linkFault(at: folder) { throw .file(fault) }
            do throws(FileError) { try DiskFiles().makeDirectory(folder) } catch { throw .file(error) }
            return try StoreLock(folder.at("lock"))
        } catch { throw Failure(MeteorClientError.lock(error)) }
    }
}

extension Failure {
    init(_ error: MeteorClientError) {
        let code: ResultCode =
            switch error {
            case .file, .lock(.file): .disk
            case .lock(.held): .busy
            case .meteor, .record: .malformed
            case .fetch: .network
            }
        self.init(error.description, code: code)
    }
}

/// The output of the command, one line for each event.
private struct MeteorLines: Sendable {
    let json: Bool

    func listening(_ address: LocalServer.Address) {
        say(
            "listening",
            "listening on \(address.url)",
            [("url", .text(address.url)), ("port", .integer(address.port))]
        )
    }

    @Sendable func take(_ event: MeteorServer.Event) {
        switch event {
        case .serving(let version, let onTrial):
            say(
                "serving",
                "serving \(version)\(onTrial ? ", on trial" : "")",
                [("version", .text(version)), ("onTrial", .bool(onTrial))]
            )
        case .confirmed(let version): say("confirmed", "confirmed: \(version)", [("version", .text(version))])
        case .rolledBack(let good, let bad, let setback):
            say(
                "rolledBack",
                "rolled back to \(good) from \(bad): \(setback)",
                [("to", .text(good)), ("from", .text(bad))] + setback.members
            )
        case .ready(let version, let files):
            say(
                "ready",
                "\(version) is here and waits: \(Words.count(files, "file")) came",
                [("version", .text(version)), ("files", .integer(files))]
            )
        case .nothingNew(let version): say("nothingNew", "nothing new: \(version)", [("version", .text(version))])
        case .trouble(let error): say("trouble", "trouble: \(error)", [("error", .text(error))])
        }
    }

    private func say(_ event: String, _ text: String, _ members: [(String, JSON?)]) {
        Console.standardOutput.line(json ? JSON.fields([("event", .text(event))] + members).line : printable(text))
    }
}
