import ArgumentParser
import CommandKit
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import SystemPackage

struct TestScriptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-script",
        abstract: "Check that a local script could be installed. No store, no network.",
        discussion: """
            For patch authors. Prints the result that installing these bytes would have:
            Success, UnKnownError if they are not UTF-8, or FileNotExist. The script is
            not evaluated: Success only means that an engine could run it.
            `patchsync eval` runs it.

            EXAMPLES
              patchsync test-script demo.js
            """
                + exitCodes([
                    .done: "Success",
                    .malformed: "UnKnownError",
                    .disk: "FileNotExist, or unreadable",
                ])
    )

    @Argument(help: ArgumentHelp("The script; its name must end with .js.", valueName: "file.js"))
    var file: String

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    @Option(name: .long, help: .hidden)
    var store: String?

    func validate() throws {
        guard store == nil else {
            throw ValidationError("a test script is never mixed with the scripts of a store: leave out --store")
        }
        guard file.hasSuffix(".js"), FilePath(file).name != ".js" else {
            throw ValidationError("the name of a test script ends with .js")
        }
    }

    func run() async throws {
        let code = try await runCommand(json: json, work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        var bytes: [UInt8]?
        do throws(FileError) {
            bytes = try DiskFiles().read(FilePath(argument: file), limit: Limits.testScript)
        } catch .notFound {} catch { throw Failure("\(error)", code: .disk) }
        let state = PatchState(testScript: bytes)
        if json {
            let sha256 = bytes.map { JSON.text(SHA256Digest(of: $0).hex) }
            Console.standardOutput.line(
                JSON.fields([("file", .text(file)), ("state", .text(state.name)), ("sha256", sha256)]).line
            )
        } else {
            Console.standardOutput.line("\(printable(file)): \(state.name)")
        }
        return switch state {
        case .success: .done
        case .fileNotExist: .disk
        case .unknownError, .unInstall, .fileNotMatch, .update, .add: .malformed
        }
    }
}
