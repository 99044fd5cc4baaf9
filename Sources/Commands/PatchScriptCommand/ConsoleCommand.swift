import PatchFormat
import ArgumentParser
import CommandKit
import PatchRuntime
import Synchronization

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Evaluate lines of standard input on a sample host, each in the same context.",
        discussion: """
            Scripts can be loaded first: the active scripts of a store, then files. A failed script or line is
            reported, and the next line is read. The console ends with the input, after pending work is done or 10
            seconds.

            EXAMPLES
              patchscript console
              echo 'new (require("CartController"))().total()' | patchscript console fix-cart-total.js
            """ + exitCodes([.done: "the input has ended"], usual: .disk)
    )

    @Argument(help: ArgumentHelp("Scripts to run first.", valueName: "file.js"))
    var files: [String] = []

    @Option(help: ArgumentHelp("The store of a device. Its active scripts run first.", valueName: "dir"))
    var store: String?

    func run() async throws {
        let code = try await runCommand { () async throws(Failure) -> ResultCode in
            var active: [PatchScript] = []
            if let store {
                let status = try StoreStatus(of: store)
                guard status.code == .done else { return status.code }
                active = try status.scripts().map(\.patch)
            }
            try await work(after: active)
            return .done
        }
        if code != .done { throw code.asError }
    }

    private func work(after active: [PatchScript]) async throws(Failure) {
        var scripts = active
        for file in files { scripts.append(try ScriptFile.script(file)) }
        // The last failure that the host reported. It does not report each failure of a line.
        let reported = ReportedFailure()
        let sample: SampleHost
        do throws(PatchCallError) {
            sample = try SampleHost { failure in
                reported.last.withLock { $0 = failure }
                ConsoleCommand.report(failure)
            }
        } catch { throw Failure("\(error)") }
        _ = sample.host.run(scripts)
        let isInteractive = YesNoPrompt.isInteractive
        while true {
            if isInteractive { Console.standardOutput.write("> ") }
            guard let line = readLine() else { break }
            guard !line.isEmpty else { continue }
            reported.last.withLock { $0 = nil }
            do throws(PatchFailure) {
                Console.standardOutput.line(printable(ConsoleCommand.text(of: try sample.host.evaluate(line))))
            } catch  where reported.last.withLock({ $0 }) != error { ConsoleCommand.report(error) } catch {}
        }
        _ = await sample.settle()
    }

    /// Writes a failure: of a script with its place, of a line without.
    private static func report(_ failure: PatchFailure) {
        let text = failure.patch == PatchHost.console ? failure.message : failure.description
        Console.standardError.line(printable("error: \(text)"))
    }

    /// Returns a value as text for people.
    static func text(of value: PatchValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let flag): "\(flag)"
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .string(let text): "\"\(text)\""
        case .array(let values): "[" + values.map { text(of: $0) }.joined(separator: ", ") + "]"
        case .dictionary(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0): \(text(of: $1))" }.joined(separator: ", ") + "}"
        case .data(let bytes): "\(bytes.count) bytes"
        case .date(let date): "date \(date.millisecondsSince1970)"
        case .object(let object): "[\(type(of: object))]"
        case .function: "[function]"
        }
    }
}

/// The failure that was reported last.
private final class ReportedFailure: Sendable {
    let last = Mutex<PatchFailure?>(nil)
}
