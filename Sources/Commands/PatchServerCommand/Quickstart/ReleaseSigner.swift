import Linux
import CommandKit
import FoundationEssentials
import PatchFormat
import SystemPackage

/// Runs `patchsign`, the only program that reads release keys.
///
/// This process never reads them.
struct ReleaseSigner {
    private static let timeout = 3_600
    private static let outputLimit = 64 << 20

    let program: FilePath

    /// - Throws: If `patchsign` is neither beside this program nor in PATH.
    init() throws(Failure) {
        guard let program = SiblingProgram.path(of: "patchsign") else { throw Self.notInstalled }
        self.program = program
    }

    static let notInstalled = Failure(
        "patchsign is neither beside patchsrv nor in PATH",
        hint: "install it on this machine: it makes keys and signs releases, which patchsrv never does",
        code: .disk
    )

    /// Runs `patchsign` with `--json`, and returns its output and exit code.
    ///
    /// It writes progress and errors directly to this process's standard error.
    ///
    /// - Parameter passphrase: The passphrase for its standard input, which no other user of the machine can read.
    func run(
        _ arguments: [String],
        passphrase: Passphrase? = nil
    ) throws(Failure) -> (json: JSON, code: ResultCode) {
        var environment = ProcessInfo.processInfo.environment
        // Its base is the given folder or none, and not the server of a pipeline.
        environment["PATCHLINE_SERVER"] = nil
        let outcome: ChildProcess.Outcome
        do throws(ChildProcessError) {
            outcome = try ChildProcess.run(
                [program.string] + arguments + ["--json"],
                environment: environment.map { "\($0)=\($1)" },
                input: (passphrase?.bytes ?? []) + [UInt8(ascii: "\n")],
                timeout: Self.timeout,
                limit: Self.outputLimit,
                // Otherwise Ctrl-C would leave it behind, and it would go on to make keys.
                inOwnGroup: false
            )
        } catch { throw Failure("\(Self.words(arguments)): \(error)", hint: Self.resumeHint) }
        let code = ResultCode(rawValue: Int32(outcome.status)) ?? .failed
        return ((try? JSON(parsing: outcome.output)) ?? .null, code)
    }

    /// Runs `patchsign` and fails if it does not succeed.
    func done(_ arguments: [String], passphrase: Passphrase) throws(Failure) {
        let code = try run(arguments, passphrase: passphrase).code
        guard code != .done else { return }
        throw Self.failed(arguments, code)
    }

    static func failed(_ arguments: [String], _ code: ResultCode) -> Failure {
        Failure("\(words(arguments)) ended with \(code.rawValue)", hint: resumeHint, code: code)
    }

    static let resumeHint =
        "its error is above; fix it and run the same quickstart again, which continues where it stopped"

    private static func words(_ arguments: [String]) -> String { "patchsign \(arguments.first ?? "")" }
}
