import ArgumentParser
import CommandSupport
import PatchLanguage
import PatchRuntime
import PatchStore
import SystemPackage
import Terminal

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say whether scripts are programs, and which of their names no host knows. Nothing is run.",
        discussion: """
            What is wrong is told as FILE:LINE:COLUMN. With --host, names that the host does not have are warnings: a class or a
            method may be the script's own.

            EXAMPLES
              patchscript check scripts/fix-cart-total.js
              patchscript check scripts/*.js --host interface.json
            """
                + exitCodes([
                    .done: "all are programs; there may be warnings",
                    .malformed: "one is none, or the interface is none",
                    .disk: "a file could not be read",
                ])
    )

    @Argument(help: ArgumentHelp("The scripts.", valueName: "file.js"))
    var files: [String]

    @Option(
        help: ArgumentHelp("What a host exposes, as it says itself; may stand several times.", valueName: "file.json")
    )
    var host: [String] = []

    func run() async throws {
        let code = try await runCommand(work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> Terminal.ExitCode {
        var interfaces: [HostInterface] = []
        for file in host {
            let bytes = try ScriptFile.bytes(of: file, limit: HostInterface.largest)
            do throws(HostInterfaceError) { interfaces.append(try HostInterface(parsing: bytes)) } catch {
                throw Failure(
                    "\(file): \(error)",
                    hint: "a host writes it as PatchHost.interface",
                    exitCode: .malformed
                )
            }
        }
        var (scripts, isWrong): ([(file: String, names: ScriptNames)], Bool) = ([], false)
        for file in files {
            let script = try ScriptFile.script(file)
            if let failure = script.check() {
                isWrong = true
                Failure(CheckCommand.sentence(failure, file: file), exitCode: .malformed).report(to: .standardError)
            } else if case .bytes(let bytes) = script.content {
                scripts.append((file, ScriptNames(String(decoding: bytes, as: UTF8.self))))
            }
        }
        for (file, names) in scripts where !interfaces.isEmpty {
            for name in names.unknown(to: interfaces, besides: scripts.map(\.names)) {
                Console.standardError.line(CheckCommand.warning(name, file: file))
            }
        }
        return isWrong ? .malformed : .done
    }

    /// As `fix.js:3:7: SyntaxError: …`.
    static func sentence(_ failure: PatchFailure, file: String) -> String {
        let places = [failure.line, failure.line == nil ? nil : failure.column].compactMap { $0.map { ":\($0)" } }
        return "\(file)\(places.joined()): \(failure.message)"
    }

    static func warning(_ name: UnknownName, file: String) -> String { printable("warning: \(file): \(name)") }
}

/// A script in a file that somebody names.
enum ScriptFile {
    static func script(_ file: String) throws(Failure) -> PatchScript {
        // One byte more than may be there: the check then says that it is too large.
        let bytes = try bytes(of: file, limit: 100_000_000)
        return PatchScript(id: FilePath(argument: file).name ?? file, version: "local", content: .bytes(bytes))
    }

    static func bytes(of file: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: file), limit: limit) } catch {
            throw Failure("\(error)", exitCode: .disk)
        }
    }
}
