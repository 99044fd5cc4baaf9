import ArgumentParser
import CommandSupport
import DeviceOutput
import PatchSync
import SystemPackage
import Terminal

struct EvalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval",
        abstract: "Run a local script on a sample host, in place of everything that a server would deliver.",
        discussion: """
            For whoever works on the app: the store must be in debug mode. Nothing of the store is run, and nothing in it changes.
            It is `patchscript eval`, which says what the sample host has.

            EXAMPLES
              patchsync set --store /var/lib/app --debug
              patchsync eval --store /var/lib/app demo.js
            """
                + exitCodes([
                    .done: "Success",
                    .refused: "the store is not in debug mode",
                    .malformed: "UnKnownError: no text, no program, or it threw",
                    .disk: "script or store could not be read, or patchscript is not installed",
                ])
    )

    @OptionGroup var store: DebugStoreOption

    @Argument(help: ArgumentHelp("The script; its name ends with .js.", valueName: "file.js"))
    var file: String

    func validate() throws {
        guard file.hasSuffix(".js") else { throw ValidationError("the name of a test script ends with .js") }
    }

    func run() async throws {
        try await runCommand { () throws(Failure) in
            _ = try store.inDebugMode()
            try PatchScriptProgram.become(["eval", "--", file])
        }
    }
}

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Evaluate lines of standard input on a sample host, beside the scripts that the store runs.",
        discussion: """
            For whoever works on the app: the store must be in debug mode, and does not change. It is `patchscript console`.

            EXAMPLES
              patchsync console --store /var/lib/app
              echo 'new (require("CartController"))().total()' | patchsync console --store /var/lib/app
            """
                + exitCodes([
                    .done: "the input is over",
                    .refused: "the store is not in debug mode",
                    .disk: "the store could not be read, or patchscript is not installed",
                ])
    )

    @OptionGroup var store: DebugStoreOption

    func run() async throws {
        try await runCommand { () throws(Failure) in
            let device = try store.inDebugMode()
            try PatchScriptProgram.become(["console", "--store", device.store.root.string])
        }
    }
}

/// A store in which whoever works on the app may run scripts of his own.
struct DebugStoreOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The device's folder, else PATCHSYNC_STORE, else ./patchline-store.", valueName: "dir")
    )
    var store: String?

    func inDebugMode() throws(Failure) -> Device {
        let path = StoreOptions.path(store)
        let device: Device
        do throws(SyncError) {
            device = try Device(StoreOptions.deviceStore(at: path), now: ProcessEnvironment.now)
        } catch { throw Failure(error) }
        guard device.configuration.debug else { throw Failure(notInDebugMode: path) }
        return device
    }
}

/// The program with the engine, which patchsync itself does without.
enum PatchScriptProgram {
    static let name = "patchscript"

    static func path() throws(Failure) -> FilePath {
        guard let program = SiblingProgram.path(of: name) else { throw .noPatchScript }
        return program
    }

    /// Becomes it.
    static func become(_ arguments: [String]) throws(Failure) {
        let program = try path()
        throw Failure(
            "\(program) cannot be run: \(SiblingProgram.become(program, arguments))",
            exitCode: .disk
        )
    }
}

extension Failure {
    init(notInDebugMode store: FilePath) {
        self.init(
            "\(store) is not in debug mode: no script runs on it but what its release key signed",
            hint: "`patchsync set --store \(store) --debug` lets local scripts run on this machine",
            exitCode: .refused
        )
    }

    static let noPatchScript = Failure(
        "patchscript is neither beside patchsync nor in PATH",
        hint: "it has the engine that scripts run in, and is a package of its own: apt-get install ./patchscript_*.deb",
        exitCode: .disk
    )
}
