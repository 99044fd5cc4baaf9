import PatchFormat
import ArgumentParser
import CommandKit
import PatchRuntime

struct EvalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval",
        abstract: "Run a local script on a sample host, instead of the scripts of a server.",
        discussion: """
            The sample host exposes CartController: total(), count(), price(line), pieces(line). Its total is one cent
            wrong. The script's console output is printed, then its state, and the total with and without it. The
            command waits up to 10 seconds for pending work.

            EXAMPLES
              patchscript eval demo.js
            """
                + exitCodes([
                    .done: "Success",
                    .malformed: "UnKnownError: not text, not a program, or it threw, at once or later",
                    .disk: "the file could not be read",
                ])
    )

    @Argument(help: ArgumentHelp("The script. Its name ends in .js.", valueName: "file.js"))
    var file: String

    func validate() throws {
        guard file.hasSuffix(".js") else { throw ValidationError("the name of a test script ends with .js") }
    }

    func run() async throws {
        let code = try await runCommand(work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        ProcessorLimit.begin()
        let script = try ScriptFile.script(file)
        do {
            let sample = try SampleHost { [file] failure in
                Failure(CheckCommand.sentence(failure, file: failure.file ?? file), code: .malformed)
                    .report(to: .standardError)
            }
            _ = sample.host.run([script])
            if await !sample.settle() {
                Console.standardError.line("warning: it still has pending work, which was not waited for")
            }
            let row = sample.host.report.rows[0]
            Console.standardOutput.line(printable("\(file): \(row.state.rawValue)"))
            guard row.state == .installed else { return .malformed }
            let patched = try sample.total(sample.cart)
            sample.host.withdraw(script.id)
            Console.standardOutput.line("total: \(patched) with it, \(try sample.total(sample.cart)) without it")
            return row.failure == nil ? .done : .malformed
        } catch let failure as Failure { throw failure } catch is PatchFailure {
            // The host has reported it, like every failure.
            return .malformed
        } catch { throw Failure("\(error)") }
    }
}
