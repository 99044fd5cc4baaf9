import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what happened to this store: syncs, launches, trials, rollbacks. No network.",
        discussion: """
            `patchsync sync`, `serve` and `run` write it, at most half a megabyte of the last. It holds no token, no URL with one, and
            nothing of who uses the device. `patchsync status --debug` shows its end beside what it led to.

            EXAMPLES
              patchsync log --store /var/lib/app
              patchsync log --store /var/lib/app --since 2026-12-24T00:00:00Z
              patchsync log --store /var/lib/app --follow --json
            """
                + exitCodes([.done: "told", .disk: "disk, or no store"])
    )

    @OptionGroup var options: StoreOptions

    @Flag(help: "Go on with what happens, until it is interrupted.")
    var follow = false

    @Option(help: ArgumentHelp("Nothing before this time.", valueName: "YYYY-MM-DDTHH:MM:SSZ"))
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
