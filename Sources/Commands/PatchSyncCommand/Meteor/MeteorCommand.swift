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
        abstract: "Serve an app built by Meteor, and follow its Meteor server.",
        discussion: """
            Updates from a Meteor server are not signed: anyone who controls that server
            controls this device. They need --unsigned and a folder of their own. For
            signed releases use `patchsync serve`.

            A new version is downloaded as by Meteor's client. It starts when the page
            switches or at the next start, and is rolled back if it does not confirm its
            start in time. The page API is that of WebAppLocalServer in a Cordova app.

            EXAMPLES
              patchsync meteor --store /var/lib/shop --bundle www/application --root-url https://shop.example/ --unsigned
              patchsync meteor --store shop --bundle www/application --root-url https://shop.example/ --unsigned --look-every 600
            """
                + exitCodes(
                    [
                        .done: "stopped",
                        .malformed: "--bundle is not a Meteor app",
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @Option(name: .long, help: ArgumentHelp("Folder for versions.", valueName: "dir"))
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp("Files embedded in the app, with index.html and program.json.", valueName: "dir")
    )
    var bundle: String

    @Option(name: .long, help: ArgumentHelp("The app's ROOT_URL.", valueName: "url"))
    var rootURL: String

    @Flag(name: .long, help: "Accept unsigned versions.")
    var unsigned = false

    @Option(name: .long, help: "Platform of the compatibility hash: android or ios.")
    var platform = "android"

    @Option(
        name: .long,
        help: ArgumentHelp("Hash of the native part, if it differs from the bundle's.", valueName: "hash")
    )
    var compatibility: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Check for versions at start and at this interval. Without it: when a page asks.",
            valueName: "seconds"
        )
    )
    var lookEvery: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Time for a new version to confirm its start, in milliseconds.", valueName: "ms")
    )
    var startupTimeout = 20_000

    @Option(
        name: .long,
        help: ArgumentHelp("Maximum download of one version (default: 500MB).", valueName: "bytes")
    )
    var downloadLimit: ByteCountArgument?

    @Option(name: .long, help: "Port; 0 takes any free one (default: the app's own).")
    var port: Int?

    @Flag(
        name: .long,
        help:
            "Serve pages on 127.0.0.1, for web views that cannot resolve NAME.localhost. Other programs here can get their cookies."
    )
    var noOwnHost = false

    @Flag(name: .long, help: "Print events as JSON, one object a line.")
    var json = false

    func validate() throws {
        guard unsigned else {
            throw ValidationError("updates from a Meteor server are not signed: --unsigned accepts them")
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
                hint: "name another folder for unsigned updates.",
                code: .usage
            )
        }
        let lock = try Self.locked(folder)
        defer { withExtendedLifetime(lock) {} }
        let lines = MeteorLines(json: json)
        let server: MeteorServer
        do throws(MeteorClientError) {
            server = try MeteorServer(
                root: root,
                folder: folder,
                bundle: FilePath(argument: bundle),
                platform: platform,
                compatibility: compatibility,
                settings: settings,
                report: lines.take
            )
        } catch { throw Failure(error) }
        Console.standardError.line(
            "warning: updates from \(root) are not signed: anyone who controls that server controls this device"
        )
        let failure: Failure? = await withTaskGroup(of: Failure?.self) { group in
            group.addTask {
                do {
                    try await server.run { lines.listening($0) }
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
                "\(version) is downloaded and waits: \(Words.count(files, "file")) received",
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
