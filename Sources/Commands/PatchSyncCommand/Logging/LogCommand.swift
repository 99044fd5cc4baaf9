import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show this store's log: syncs, launches, trials, rollbacks. No network.",
        discussion: """
            Written by `patchsync sync`, `serve` and `run`; the newest half megabyte is
            kept. It contains no tokens, no URLs with tokens, and no data about the
            device's user. `patchsync status --debug` shows its end.

            EXAMPLES
              patchsync log --store /var/lib/app
              patchsync log --store /var/lib/app --since 2026-12-24T00:00:00Z
              patchsync log --store /var/lib/app --follow --json
            """
                + exitCodes([.done: "shown", .disk: "disk, or no store"])
    )

    @OptionGroup var options: StoreOptions

    @Flag(help: "Print new lines until interrupted.")
    var follow = false

    @Option(help: ArgumentHelp("Only lines since this time.", valueName: "YYYY-MM-DDTHH:MM:SSZ"))
    var since: UTCTime?

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let log = StoreLog(try options.device.store.root)
        let lines = log.lines().compactMap { LogLine($0) }
        show(lines)
        guard follow else { return }
        var tail = LogTail(after: lines)
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            show(tail.news(in: log.lines().compactMap { LogLine($0) }))
        }
    }

    private func show(_ lines: some Sequence<LogLine>) {
        for line in lines where since.map({ $0 <= line.time }) ?? true {
            Console.standardOutput.line(options.json ? line.json.line : line.words)
        }
    }
}

extension LogLine {
    var words: String { "\(time)  \(event)  \(printable(text))" }
}

/// The position of a reader of the log.
struct LogTail {
    /// The number of lines that identify a position.
    ///
    /// Lines of the same second may be equal.
    private static let seen = 16

    private var last: ArraySlice<LogLine>

    init(after lines: [LogLine]) {
        last = lines.suffix(Self.seen)
    }

    /// Returns the lines after those already seen, or all lines if the seen ones were removed.
    mutating func news(in lines: [LogLine]) -> ArraySlice<LogLine> {
        defer { last = lines.suffix(Self.seen) }
        let end = lines.indices.first { lines[...$0].suffix(last.count).elementsEqual(last) }
        return last.isEmpty ? lines[...] : lines[(end.map { lines.index(after: $0) } ?? lines.startIndex)...]
    }
}
