import ArgumentParser
import CommandKit
import PatchFormat
import PatchRuntime
import PatchStore
import PatchCrypto
import Patchline
import SystemPackage

struct RunScriptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the active scripts of a store on a sample host, and print their states.",
        discussion: """
            The store is read, and not changed. The sample host is that of `patchscript eval`: scripts for other hosts may fail here.

            EXAMPLES
              patchscript run --store /var/lib/app
            """
                + exitCodes(
                    [.done: "every script runs", .partial: "some do not"],
                    usual: .failed,
                    .malformed,
                    .disk
                )
    )

    @Option(help: ArgumentHelp("The store of a device.", valueName: "dir"))
    var store: String

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    func run() async throws {
        let code = try await runCommand(json: json) { () async throws(Failure) in try await work() }
        if code != .done { throw code.asError }
    }

    private func work() async throws(Failure) -> ResultCode {
        ProcessorLimit.begin()
        let scripts = try await PatchScript.active(in: store)
        let sample: SampleHost
        // What scripts say stays apart from a document.
        let output: Console = json ? .standardError : .standardOutput
        do throws(PatchCallError) { sample = try SampleHost(output: output) } catch { throw Failure("\(error)") }
        let report = sample.host.run(scripts)
        if json {
            Console.standardOutput.line(JSON.fields([("patches", .array(report.rows.map(\.json)))]).line)
        } else {
            guard !report.rows.isEmpty else {
                Console.standardOutput.line(RunScriptsCommand.nothing)
                return .done
            }
            for line in RunScriptsCommand.table(report).lines(on: .standardOutput) { Console.standardOutput.line(line) }
        }
        return report.rows.allSatisfy { $0.state == .installed } ? .done : .partial
    }

    static let nothing = "no active script is for programs"

    static func table(_ report: PatchReport) -> Table {
        var table = Table(["PATCH", "VERSION", "STATE", "WHY"])
        for row in report.rows {
            table.add([
                .init(row.id), .init(row.version), .init(row.state.rawValue), .init(row.failure?.description ?? ""),
            ])
        }
        return table
    }
}

extension PatchScript {
    /// The scripts of what runs on a device that are for programs, in list order.
    static func active(in path: String) async throws(Failure) -> [PatchScript] {
        do throws(PatchlineError) {
            let store = try await PatchlineStore(path)
            let altered = try store.status().patches.filter { $0.state == .fileAltered }.map(\.version)
            return try store.scripts().filter { $0.runsIn != .page }.map {
                PatchScript($0, isAltered: altered.contains($0.version))
            }
        } catch  where error.code == .noStore {
            throw Failure("\(error)", hint: "patchsync init makes one", code: .disk)
        } catch { throw Failure("\(error)", code: error.code == .disk ? .disk : .failed) }
    }

    /// What a store says of a script, and its bytes if they are those that were signed.
    init(_ script: PatchlineStore.Script, isAltered: Bool) {
        var content: Content = isAltered ? .altered : .missing
        if let file = script.file {
            let bytes = try? DiskFiles().read(FilePath(file), limit: Limits.testScript)
            content = bytes.map { SHA256Digest(of: $0).hex == script.sha256 ? .bytes($0) : .altered } ?? .missing
        }
        self.init(id: script.version.patch, version: script.version.version, content: content)
    }
}

extension PatchReport.Row {
    fileprivate var json: JSON {
        .fields([
            ("patchId", .text(id)), ("version", .text(version)), ("state", .text(state.rawValue)),
            ("failure", failure.map { .text("\($0)") }),
        ])
    }
}
