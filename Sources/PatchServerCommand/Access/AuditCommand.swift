import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import PatchStore
import ServerRecords
import SystemPackage
import Terminal

/// `patchsrv audit`: what was done, by whom.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Shows, exports and verifies the log of every change.",
        discussion: """
            Each entry holds the hash of the one before it, so an entry that was edited, removed, exchanged or put in between
            is found, in a log that was exported as well. Whoever writes the last hash down somewhere else also sees when the
            log was cut off at its end, or written anew: --head asks that it is in the log.

            EXAMPLES
              patchsrv audit list --data /srv/patchline
              patchsrv audit export --data /srv/patchline > audit.jsonl
              patchsrv audit verify --data /srv/patchline --head 3f2a…
              patchsrv audit accept-clock --data /srv/patchline
              patchsrv audit verify audit.jsonl        (on any machine, without the server)

            EXIT CODES
              0   the log is whole
              3   an entry is not what was written (verify)
              6   the file cannot be read (verify)
            """,
        subcommands: [AuditList.self, AuditExport.self, AuditVerify.self, AuditAcceptClock.self]
    )
}

struct AuditList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows the newest entries.")

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("How many.", valueName: "count"))
    var last = 20

    @Flag(help: "Print them as JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(last) else { throw ValidationError("--last must be from 1 to 10000") }
    }

    func run() async throws {
        try await reporting(json: json) {
            let records = try folder.records()
            let end = try await records.lastAuditEntry()?.number ?? 0
            let entries = try await entries(of: records, after: max(0, end - last))
            let console = Console.standardOutput
            if json {
                return console.line(JSON.fields([("entries", .array(entries.map(\.json)))]).pretty())
            }
            guard !entries.isEmpty else { return console.line("nothing was done yet") }
            var table = Table([Table.Column("entry", .right), "time", "action", "app", "channel", "by"])
            for entry in entries { table.add(entry.cells) }
            table.write(to: console)
        }
    }

    private func entries(of records: ServerRecords, after first: Int) async throws -> [AuditEntry] {
        var entries: [AuditEntry] = []
        var next: Int? = first
        while let number = next, entries.count < last {
            let page = try await records.auditPage(after: number, limit: last - entries.count)
            entries += page.entries
            next = page.next
        }
        return entries
    }
}

struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints the whole log, an entry a line, as JSON."
    )

    @OptionGroup var folder: FolderOptions

    func run() async throws {
        try await reporting {
            let records = try folder.records()
            var next: Int? = 0
            while let last = next {
                let page = try await records.auditPage(after: last, limit: ServerRecords.auditEntriesAtATime)
                for entry in page.entries { Console.standardOutput.line(entry.json.line) }
                next = page.next
            }
        }
    }
}

struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Says whether every entry of a log is what was written, and which is not."
    )

    @Argument(help: ArgumentHelp("A log that was exported, in place of the server's own.", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("The server's folder.", valueName: "dir"))
    var data: String?

    @Option(help: ArgumentHelp("A hash that was written down earlier and must be in the log.", valueName: "hash"))
    var head: String?

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func validate() throws {
        guard (file == nil) != (data == nil) else {
            throw ValidationError("name an exported log, or the server's folder with --data")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let chain = try await chain()
            let console = Console.standardOutput
            if json {
                console.line(chain.json.pretty())
                if !chain.faults.isEmpty { throw Terminal.ExitCode.refused.ending }
                return
            }
            guard !chain.faults.isEmpty else {
                return console.line("\(chain.count) entries, each as it was written; the last hash is \(chain.head)")
            }
            for fault in chain.faults.prefix(Self.shownFaults) { console.line("✗ \(printable(fault.sentence))") }
            let rest = chain.faults.count - Self.shownFaults
            if rest > 0 { console.line("… and \(rest) more") }
            throw Failure(
                "the audit log is not what was written",
                hint: "compare it with an export or a backup",
                exitCode: .refused
            )
        }
    }

    /// Lines; --json has all.
    private static let shownFaults = 50

    private func chain() async throws -> AuditChain {
        if let data {
            return try await ServerFolder(FilePath(argument: data)).records().auditChain(mustHold: head)
        }
        var lines = AuditLines(mustHold: head)
        let reader = try DiskFiles().open(FilePath(argument: file ?? ""), limit: .max)
        while let bytes = try reader.next() { lines.take(bytes) }
        return lines.finish()
    }
}

extension AuditChain {
    fileprivate var json: JSON {
        .fields([
            ("whole", .bool(faults.isEmpty)), ("entries", .integer(count)), ("head", .text(head)),
            ("faults", .array(faults.map(\.json))),
        ])
    }
}

struct AuditAcceptClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-clock",
        abstract: "Takes the machine's clock at its word again, after it had been ahead.",
        discussion: """
            Whether a token has expired is judged by the clock, or by the newest entry of the log where the clock is behind it, so
            that a clock that was set back revives no token. After a clock that was years ahead for a while the log says so
            still, and tokens are refused: make sure that the clock is right now, and say so with this.
            """
    )

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let records = try folder.records()
            let said = try await records.acceptClock(by: .here)
            let now = records.now()
            if json {
                let outcome = JSON.fields([
                    ("log", .text(said.description)), ("clock", .text(now.description)), ("changed", .bool(said > now)),
                ])
                return Console.standardOutput.line(outcome.pretty())
            }
            Console.standardOutput.line(
                said > now
                    ? "from now on the time is \(now); the audit log said \(said)"
                    : "the clock is not behind the audit log: nothing was changed"
            )
        }
    }
}

extension AuditChain.Fault {
    fileprivate var sentence: String {
        switch self {
        case .unreadable(let row, let rule): "line \(row) is no entry: \(rule)"
        case .edited(_, let number): "entry \(number) was edited"
        case .removed(let numbers) where numbers.count == 1: "entry \(numbers.lowerBound) was removed"
        case .removed(let numbers): "entries \(numbers.lowerBound) to \(numbers.upperBound) were removed"
        case .added(let row, let number): "line \(row) was put in: another entry \(number) stands in its place"
        case .misplaced(let row, let number, let after):
            "entry \(number) stands behind entry \(after), in line \(row): lines were exchanged"
        case .exchanged(_, let number): "entry \(number) was written anew, hash and all: those beside it know another"
        case .withoutHead(let head): "no entry has the hash \(head): the log was written anew, or cut"
        }
    }

    fileprivate var json: JSON {
        let (what, row, number): (String, Int?, Int?) =
            switch self {
            case .unreadable(let row, _): ("unreadable", row, nil)
            case .edited(let row, let number): ("edited", row, number)
            case .removed(let numbers): ("removed", nil, numbers.lowerBound)
            case .added(let row, let number): ("added", row, number)
            case .misplaced(let row, let number, _): ("misplaced", row, number)
            case .exchanged(let row, let number): ("exchanged", row, number)
            case .withoutHead: ("withoutHead", nil, nil)
            }
        var last: Int?
        if case .removed(let numbers) = self { last = numbers.upperBound }
        return .fields([
            ("fault", .text(what)), ("line", row.map { .integer($0) }), ("entry", number.map { .integer($0) }),
            ("lastEntry", last.map { .integer($0) }), ("sentence", .text(sentence)),
        ])
    }
}

extension AuditEntry {
    fileprivate var cells: [Table.Cell] {
        let who = Self.text(json["actor"]?["name"] ?? json["actor"]?["kind"])
        let texts = [text("time"), text("action"), text("app"), text("channel"), who]
        return ["\(number)"] + texts.map { Table.Cell($0 ?? "") }
    }

    private func text(_ key: String) -> String? { Self.text(json[key]) }

    private static func text(_ value: JSON?) -> String? {
        guard case .string(let text) = value else { return nil }
        return text.text
    }
}
