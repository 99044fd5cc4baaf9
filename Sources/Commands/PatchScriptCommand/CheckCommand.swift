import ArgumentParser
import CommandKit
import PatchFormat
import PatchLanguage
import PatchRuntime
import PatchStore
import SystemPackage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the syntax of scripts and the names they use. Nothing is run.",
        discussion: """
            Errors are reported with line and column. With --host, names that the host does not expose are warnings,
            because a class or method may be the script's own.

            EXAMPLES
              patchscript check scripts/fix-cart-total.js
              patchscript check scripts/*.js --host interface.json
            """
                + exitCodes([
                    .done: "all scripts are valid; there may be warnings",
                    .malformed: "a script or an interface is not valid",
                    .disk: "a file could not be read",
                ])
    )

    @Argument(help: ArgumentHelp("The scripts to check.", valueName: "file.js"))
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "A host's interface, as `patchscript interface` prints it. Repeatable.",
            valueName: "file.json"
        )
    )
    var host: [String] = []

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let code = try await runCommand(json: json, work)
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        var interfaces: [HostInterface] = []
        for file in host {
            let bytes = try ScriptFile.bytes(of: file, limit: HostInterface.largest)
            do throws(HostInterfaceError) { interfaces.append(try HostInterface(parsing: bytes)) } catch {
                throw Failure(
                    "\(file): \(error)",
                    hint: "a host writes it as PatchHost.interface",
                    code: .malformed
                )
            }
        }
        var found: [ScriptFindings] = []
        for file in files { found.append(ScriptFindings(try ScriptFile.script(file), file: file)) }
        if !interfaces.isEmpty {
            let names = found.compactMap(\.names)
            for index in found.indices {
                found[index].unknown = found[index].names?.unknown(to: interfaces, besides: names) ?? []
            }
        }
        if json { Console.standardOutput.line(JSON.fields([("scripts", .array(found.map(\.json)))]).line) }
        for script in found {
            if let failure = script.failure, !json {
                Failure(CheckCommand.sentence(failure, file: script.file), code: .malformed).report(
                    to: .standardError
                )
            }
            for name in script.unknown where !json {
                Console.standardError.line(CheckCommand.warning(name, file: script.file))
            }
        }
        return found.contains { $0.failure != nil } ? .malformed : .done
    }

    /// Returns the failure with its place: `fix.js:3:7: SyntaxError: …`.
    static func sentence(_ failure: PatchFailure, file: String) -> String {
        let places = [failure.line, failure.line == nil ? nil : failure.column].compactMap { $0.map { ":\($0)" } }
        return "\(file)\(places.joined()): \(failure.message)"
    }

    static func warning(_ name: UnknownName, file: String) -> String { printable("warning: \(file): \(name)") }
}

/// The findings of one script.
private struct ScriptFindings {
    let file: String
    let failure: PatchFailure?
    /// Nil if the script cannot be parsed.
    let names: ScriptNames?
    var unknown: [UnknownName] = []

    init(_ script: PatchScript, file: String) {
        self.file = file
        failure = script.check()
        guard failure == nil, case .bytes(let bytes) = script.content else {
            names = nil
            return
        }
        names = ScriptNames(String(decoding: bytes, as: UTF8.self))
    }

    var json: JSON {
        .fields([
            ("file", .text(file)),
            (
                "failure",
                failure.map {
                    .fields([
                        ("line", $0.line.map { .integer($0) }),
                        ("column", $0.line == nil ? nil : $0.column.map { .integer($0) }),
                        ("message", .text($0.message)),
                    ])
                }
            ), ("unknown", unknown.isEmpty ? nil : .array(unknown.map { .text("\($0)") })),
        ])
    }
}

/// Reads a script from a file.
enum ScriptFile {
    static func script(_ file: String) throws(Failure) -> PatchScript {
        // The limit is above the allowed size, so that the check can report a script that is too large.
        let bytes = try bytes(of: file, limit: 100_000_000)
        return PatchScript(id: FilePath(argument: file).name ?? file, version: "local", content: .bytes(bytes))
    }

    static func bytes(of file: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try DiskFiles().read(FilePath(argument: file), limit: limit) } catch {
            throw Failure("\(error)", code: .disk)
        }
    }
}
