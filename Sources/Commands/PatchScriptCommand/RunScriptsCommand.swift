import ArgumentParser
import CommandKit
import PatchFormat
import PatchRuntime

struct RunScriptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the active scripts of a store on a sample host, and print their states.",
        discussion: """
            The store is not changed. The sample host is that of `patchscript eval`: scripts for other hosts may fail
            here.

            EXAMPLES
              patchscript run --store /var/lib/app
            """
                + exitCodes(
                    [.done: "every script runs", .partial: "some scripts failed"],
                    usual: .failed,
                    .malformed,
                    .disk
                )
    )

    @Option(help: ArgumentHelp("The store of a device.", valueName: "dir"))
    var store: String

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let code = try await runCommand(json: json) { () async throws(Failure) in try work() }
        if code != .done { throw code.asError }
    }

    private func work() throws(Failure) -> ResultCode {
        let status = try StoreStatus(of: store)
        guard status.code == .done else {
            for line in status.document.split(separator: UInt8(ascii: "\n")) where json {
                Console.standardOutput.line(String(decoding: line, as: UTF8.self))
            }
            return status.code
        }
        // Not earlier, because a child process inherits the limit.
        ProcessorLimit.begin()
        let scripts = try status.scripts().map(\.patch)
        let sample: SampleHost
        // The console output of scripts is separate from a JSON document.
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

extension PatchReport.Row {
    fileprivate var json: JSON {
        .fields([
            ("patchId", .text(id)), ("version", .text(version)), ("state", .text(state.rawValue)),
            ("failure", failure.map { .text("\($0)") }),
        ])
    }
}
