import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import ReleaseFolder
import SystemPackage

/// `patchsrv quickstart FOLDER`: makes keys, a release and a server, for a trial of Patchline.
struct QuickstartCommand: ServingCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "Create keys, sign a folder as a release and serve it: a complete trial system.",
        discussion: """
            FOLDER is a web app with an index.html, or a folder with release.yaml. Creates
            the folder patchline with keys/, releases/ and server/, and asks for one
            passphrase, which encrypts the release keys. patchsign creates the keys and
            signs; patchsrv has only the online key. Then it serves, and prints the two
            commands for a device.

            Run the same command again to continue: changed files of FOLDER become the
            next release, unchanged ones are served as they are. Unfinished work of an
            earlier run is completed.

            To move to production, take the release keys and root-recovery.key off the
            server, and serve server/ with `patchsrv serve`. Devices continue.

            EXAMPLES
              patchsrv quickstart dist
              patchsrv quickstart dist --app com.example.shop --into /srv/shop --passphrase-file shop.pass
            """
                + exitCodes(
                    [
                        .done: "stopped normally",
                        .failed: "patchsign failed; its error is printed",
                        .refused: "the passphrase does not open the release keys",
                        .malformed: "FOLDER has mistakes",
                        .conflict: "the server has releases that are not in releases/ (with --no-serve)",
                        .busy: "a port is in use, or another quickstart works in the folder",
                    ],
                    usual: .disk,
                    .network
                )
    )

    @Argument(help: ArgumentHelp("Folder with the web app, or with release.yaml.", valueName: "folder"))
    var folder: String

    @Option(help: ArgumentHelp("Folder for keys, releases and server.", valueName: "dir"))
    var into = QuickstartFolder.standard

    @Option(
        help: ArgumentHelp(
            "The app's permanent id (default: that of release.yaml, else app.NAME of the project).",
            valueName: "app"
        ),
        transform: parsed
    )
    var app: AppID?

    @Option(help: ArgumentHelp("File whose first line is the release keys' passphrase, or -.", valueName: "file"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Environment variable with the passphrase (default: a prompt).", valueName: "name"))
    var passphraseEnv: String?

    @Option(help: ArgumentHelp("Address for devices.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp("Port for devices; 0 takes any free one, also for operators.", valueName: "port")
    )
    var port = 8080

    @Option(help: ArgumentHelp("Port for operators (default: 8081).", valueName: "port"))
    var operatorsPort: Int?

    @Flag(help: "Create and publish, but do not serve.")
    var noServe = false

    @Flag(help: "Print the result as one line of JSON once the server is ready, then the log as JSON.")
    var json = false

    static let newPassphrase = "Passphrase for the new release keys, at least \(Passphrase.minimum) characters:"
    static let passphrase = "Passphrase for the release keys:"

    var logFormat: LogFormat { json ? .json : .text }

    func validate() throws {
        guard passphraseFile == nil || passphraseEnv == nil else {
            throw ValidationError("give one of --passphrase-file and --passphrase-env")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let place = QuickstartFolder(FilePath(argument: into))
            let work = QuickstartWork(
                source: FilePath(argument: folder),
                place: place,
                signer: try ReleaseSigner(),
                app: app,
                serves: !noServe,
                console: json ? .standardError : .standardOutput,
                passphrase: { isNew throws(Failure) in try passphrase(isNew: isNew) }
            )
            let serves = try serving(place)
            if !noServe { try await checkPorts(serves, place) }
            let lacksConfirmation = try await work.prepare()
            let header = try work.newestHeader()
            let shown = QuickstartText(
                place: place,
                channel: header.channel,
                lacksConfirmation: lacksConfirmation
            )
            let write: @Sendable (String?) -> Void = { [json] url in
                if json {
                    Console.standardOutput.line(shown.json(url: url, app: header.app, release: header.roleVersion).line)
                } else {
                    shown.write(url: url)
                }
            }
            guard !noServe else { return write(nil) }
            try await serves.serve { write($0) }
        }
    }

    /// Checks the ports before keys and a release are made.
    private func checkPorts(_ serves: ServeCommand, _ place: QuickstartFolder) async throws(Failure) {
        do throws(Failure) {
            try await PortCheck.check(host: host, port: port)
            let operators = serves.operators
            try await PortCheck.check(
                host: operators.operatorsHost,
                port: operators.port(besideDevices: port),
                prefix: "operators-"
            )
        } catch {
            guard error.code == .busy, place.isServed else { throw error }
            throw Failure(
                error.message,
                hint: "a server serves \(place.root) already: the same command with --no-serve publishes to it",
                code: .busy
            )
        }
    }

    /// Parses the options of `serve` before any file is written, so that a wrong option fails at once.
    private func serving(_ place: QuickstartFolder) throws -> ServeCommand {
        let ports = ["--port", "\(port)"] + (operatorsPort.map { ["--operators-port", "\($0)"] } ?? [])
        return try ServeCommand.parse(
            ["--data", place.server.string, "--host", host, "--passphrase-file", place.onlinePassphrase.string] + ports
                + (json ? ["--log-format", "json"] : [])
        )
    }

    private func passphrase(isNew: Bool) throws(Failure) -> Passphrase {
        do throws(PassphraseError) {
            if let passphraseFile { return try .read(file: passphraseFile) }
            if let passphraseEnv { return try .environment(passphraseEnv) }
            return isNew
                ? try .promptForNew(Self.newPassphrase) : try .prompt(Self.passphrase)
        } catch .noTerminal {
            throw Failure(
                "there is no terminal to ask for the release keys' passphrase",
                hint: "give it with --passphrase-file or --passphrase-env",
                code: .usage
            )
        } catch { throw Failure(error) }
    }
}

/// The text that is printed once the server is ready.
struct QuickstartText {
    let place: QuickstartFolder
    let channel: ChannelName
    /// Whether the app's page lacks the call that confirms a version.
    let lacksConfirmation: Bool

    /// - Parameter url: The URL for devices, or nil if no server runs.
    func write(url: String?) {
        for line in lines(url: url) { Console.standardOutput.line(printable(line)) }
    }

    /// The paths and the next commands as one document.
    ///
    /// - Parameter url: The URL for devices, or nil if no server runs.
    func json(url: String?, app: AppID, release: Int) -> JSON {
        .fields([
            ("app", .text(app.text)), ("channel", .text(channel.text)), ("release", .integer(release)),
            ("keys", .text(place.keys.string)), ("root", .text(place.keys.at("root.json").string)),
            ("data", .text(place.server.string)), ("passphraseFile", .text(place.onlinePassphrase.string)),
            ("url", url.map { .text($0) } ?? .null),
            ("device", .array(url.map { commands(at: $0).map { .text($0) } } ?? [])), ("serve", .text(serve)),
        ])
    }

    /// The two commands of a device on this machine.
    private func commands(at url: String) -> [String] {
        let root = shellWord(place.keys.at("root.json").string)
        let follows = channel.text == "production" ? "" : " --channel \(channel)"
        return [
            "patchsync init --store device --root \(root) --server \(url)\(follows)",
            "patchsync serve --store device --sync-every 60",
        ]
    }

    /// The lines that a new app's page must contain.
    ///
    /// Without the call in the second line, each update is rolled back, although the page looks right. Without the third line, a
    /// new version waits for the next launch.
    private static let confirmation = [
        "", "devices roll back an update that its page does not confirm within 20 seconds. Add to the page:",
        #"  <script src="/__patchline/launch.js"></script>"#,
        #"  <script>addEventListener("load", () => window.patchline?.confirm())</script>"#,
        #"  <script>window.patchline?.on("ready", () => patchline.switchToPendingVersion())</script>"#,
    ]

    private var serve: String {
        "patchsrv serve --data \(shellWord(place.server.string)) --passphrase-file \(shellWord(place.onlinePassphrase.string))"
    }

    func lines(url: String?) -> [String] {
        let device = url.map { url in
            ["", "devices ask \(url). On this machine, a device is two commands:"] + commands(at: url).map { "  \($0)" }
                + (lacksConfirmation ? Self.confirmation : [])
        }
        let keys = place.keys.string
        return (device ?? ["", "\(serve) serves it"]) + [
            "", "before production:",
            "  1. move \(keys)/root-recovery.key to another medium, and all keys but online.key off the server",
            "  2. serve over HTTPS: \(serve) --tls-certificate FILE --tls-key FILE",
            "  3. publish from your pipeline: patchsrv token new ci --output ci.token --data \(place.server.string)",
        ]
    }
}
