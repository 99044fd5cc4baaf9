import PatchChoice
import PatchCrypto
import PatchTrust
import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync
import Patchline
import SystemPackage

struct ConfirmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Confirm that a launch works. Later rollbacks return to its version.",
        discussion: """
            The token is the one that `patchsync serve` printed for this launch. The token
            of another launch confirms nothing. Other users of the machine can see command
            lines, and thus the value of --launch.

            EXAMPLES
              echo 6f0d… | patchsync confirm --store /var/lib/app --launch-file -
              patchsync confirm --store /var/lib/app --launch-file launch.txt
            """
                + exitCodes(
                    [
                        .done: "confirmed, now or earlier by the same launch",
                        .failed: "nothing is installed yet",
                        .refused: "the token belongs to another launch, or no version is on trial",
                        .malformed: "not a launch token",
                    ],
                    usual: .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions

    @Option(
        name: .long,
        help: ArgumentHelp("Token of the launch to confirm, visible to all users.", valueName: "token")
    )
    var launch: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "File whose first line is the launch's token, or - for standard input.",
            valueName: "file"
        )
    )
    var launchFile: String?

    func validate() throws {
        guard (launch == nil) != (launchFile == nil) else {
            throw ValidationError("one of --launch-file and --launch is needed")
        }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let (option, text) = try given()
        guard let token = LaunchToken(text) else {
            throw Failure(
                "\(option) must be 32 lowercase hex digits",
                hint: "`patchsync serve` and `patchsync status` print it.",
                code: .malformed
            )
        }
        let device = try options.device
        let confirmation = try await reporting { () throws(SyncError) in try await device.confirm(token) }
        let result = try confirmation.result()
        Console.standardOutput.line(options.json ? result.json.line : result.words)
    }
}

extension ConfirmCommand {
    fileprivate func given() throws(Failure) -> (option: String, text: String) {
        guard let launchFile else { return ("--launch", launch ?? "") }
        return ("--launch-file", try SecretFile(option: "--launch-file", path: launchFile).line())
    }
}

extension LaunchToken {
    /// Returns a command that confirms the launch.
    ///
    /// The token is printed by a shell built-in, so that no process has it in its command line.
    func hint(_ store: FilePath) -> String {
        "echo \(text) | patchsync confirm --store \(shellWord(store.string)) --launch-file -"
    }
}

struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Roll back to the previously confirmed selection, else to the embedded versions.",
        discussion: """
            The replaced versions are blocked for 14 days, so that the next sync does not
            install them again. `patchsync unblock` ends the block.

            EXAMPLES
              patchsync rollback --store /var/lib/app
            """
    )

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let activation = try await reporting { () throws(SyncError) in try await device.rollBack() }
        if case .rolledBack(let good, let bad) = activation {
            device.note([.rolledBack(to: good, from: bad, because: Setback(reason: .person))], by: "rollback")
        }
        activation.print(options)
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify the hash of every installed file. No network.",
        discussion: """
            With --explain, lists each check with its rule and its key. A device with
            `--entry-signatures manifest` checks only the signatures of list entries, and
            names the bundles whose other signatures it skipped.

            EXAMPLES
              patchsync verify --store /var/lib/app --entries
              patchsync verify --store /var/lib/app --entries --explain --all
            """
                + exitCodes([
                    .done: "everything is valid",
                    .refused: "some files or signatures are not valid, each named",
                ])
    )

    @OptionGroup var options: StoreOptions

    @Flag(name: .long, help: "Also check the RSA signature of each entry and each asset.")
    var entries = false

    @Flag(help: "List each check with its rule and key; of the checks of each file the first 20.")
    var explain = false

    @Flag(help: "With --explain: list all checks.")
    var all = false

    func validate() throws {
        if all && !explain { throw ValidationError("--all needs --explain") }
    }

    func run() async throws {
        let code = try await runCommand(json: options.json, work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        let device = try await options.opened()
        let report = try await reporting { () throws(SyncError) in
            try device.verifyInstalled(signatures: entries, progress: reporter("Verifying"))
        }
        let checks = explain ? CheckReport(report.checks) : nil
        let out = Console.standardOutput
        if options.json {
            out.line(
                JSON.fields([
                    ("patches", .integer(report.patches)), ("files", .integer(report.files)),
                    ("signatures", .integer(report.signatures)), ("faults", .array(report.faults.map { .text($0) })),
                    ("checks", checks?.json),
                    (
                        "signaturesNotChecked",
                        report.unchecked.isEmpty ? nil : .array(report.unchecked.map { .text($0.description) })
                    ),
                ]).line
            )
        } else {
            checks?.write(to: out, all: all)
            for fault in report.faults { out.line(printable(fault)) }
            for label in report.unchecked {
                out.line("\(label): the signatures of its entries were not checked (--entry-signatures manifest)")
            }
            out.line(
                "\(Words.count(report.patches, "patch", "patches")), \(Words.count(report.files, "file")), "
                    + "\(Words.count(report.signatures, "signature")); \(Words.count(report.faults.count, "fault"))"
            )
        }
        return report.faults.isEmpty ? .done : .refused
    }
}

extension SelectionMachine.Activation {
    var words: String {
        switch self {
        case .nothing: "nothing is installed"
        case .run(let selection, let removed):
            "active: \(selection.words)"
                + (removed.isEmpty ? "" : "; withdrawn: \(removed.map(\.text).joined(separator: ", "))")
        case .tryOut(let selection, _): "active, to be confirmed: \(selection.words)"
        case .rolledBack(let good, let bad): "back to \(good?.words ?? "nothing") from \(bad.words)"
        case .unproven(let selection):
            "active, not confirmed in time, without an earlier version: \(selection.words)"
        case .interrupted(let good, let damaged):
            "active: \(good?.words ?? "nothing"); damaged, until a sync repairs it: \(damaged.words)"
        }
    }

    func print(_ options: StoreOptions) {
        let out = Console.standardOutput
        guard !options.json else { return out.line(json.line) }
        out.line(words)
        if let launch { out.line("confirm: \(launch.hint(options.path))") }
    }
}
