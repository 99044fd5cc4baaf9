import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ServerRecords
import SystemPackage

/// `patchsrv audit`: the log of all changes.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show, export and verify the log of every change.",
        discussion: """
            Each entry contains the hash of the previous one, so edited, removed,
            reordered or inserted entries are found, also in an exported log. To detect a
            log that was cut off at its end or rewritten, note the last hash elsewhere and
            verify it with --head.

            EXAMPLES
              patchsrv audit list --data /srv/patchline
              patchsrv audit list --server https://patches.example.com --token-file admin.token
              patchsrv audit export --data /srv/patchline > audit.jsonl
              patchsrv audit verify --data /srv/patchline --head 3f2a…
              patchsrv audit accept-clock --data /srv/patchline
              patchsrv audit verify audit.jsonl
            """
                + exitCodes([
                    .done: "the log is valid",
                    .refused: "an entry was altered (verify)",
                    .network: "the server of --server is unreachable or unavailable",
                    .disk: "the file cannot be read (verify)",
                ]),
        subcommands: [
            AuditListCommand.self, AuditExportCommand.self, AuditVerifyCommand.self, AuditAcceptClockCommand.self,
        ]
    )
}

struct AuditListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the newest entries and their changes.",
        discussion: """
            EXAMPLES
              patchsrv audit list --data /srv/patchline
            """
    )

    @OptionGroup(title: "Server") var place: PlaceOptions

    @Option(help: ArgumentHelp("Number of entries.", valueName: "count"))
    var last = 20

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(last) else { throw ValidationError("--last must be from 1 to 10000") }
    }

    func run() async throws {
        try await reporting(json: json) {
            let entries = try await place.auditing { pages in
                let end = try await pages.newest()
                return try await pages.entries(after: max(0, end - last), atMost: last)
            }
            let console = Console.standardOutput
            if json { return console.line(JSON.fields([("entries", .array(entries))]).pretty()) }
            guard !entries.isEmpty else { return console.line("nothing was done yet") }
            var table = Table([Table.Column("entry", .right), "time", "action", "app", "channel", "by", "what"])
            for entry in entries { table.add(entry.auditCells(isWhole: !console.isTerminal)) }
            table.write(to: console)
        }
    }
}

struct AuditExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the whole log as JSON, one entry a line.",
        discussion: """
            EXAMPLES
              patchsrv audit export --data /srv/patchline > audit.jsonl
            """
    )

    @OptionGroup(title: "Server") var place: PlaceOptions

    func run() async throws {
        try await reporting {
            try await place.auditing { pages in
                try await pages.all { for entry in $0 { Console.standardOutput.line(entry.line) } }
            }
        }
    }
}

struct AuditVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify the log, and name altered entries.",
        discussion: """
            EXAMPLES
              patchsrv audit verify --data /srv/patchline
              patchsrv audit verify audit.jsonl
            """
    )

    @Argument(help: ArgumentHelp("An exported log, in place of the server's own.", valueName: "file"))
    var file: String?

    @OptionGroup(title: "Server") var place: PlaceOptions

    @Option(help: ArgumentHelp("A hash noted earlier, which must be in the log.", valueName: "hash"))
    var head: String?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard file != nil || place.isNamed else {
            throw ValidationError("name an exported log, or the server with --data or --server")
        }
        guard head.map({ SHA256Digest(hex: $0) != nil }) ?? true else {
            throw ValidationError("--head must be 64 hex digits in lower case, as audit verify prints them")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let chain = try await chain()
            let console = Console.standardOutput
            if json {
                console.line(chain.json.pretty())
                if !chain.faults.isEmpty { throw ResultCode.refused.asError }
                return
            }
            guard !chain.faults.isEmpty else {
                return console.line(
                    "\(Words.count(chain.count, "entry", "entries")), each as it was written; the last hash is \(chain.head)"
                )
            }
            for fault in chain.faults.prefix(Self.shownFaults) { console.line("✗ \(printable(fault.sentence))") }
            let rest = chain.faults.count - Self.shownFaults
            if rest > 0 { console.line("… and \(Words.grouped(rest)) more") }
            throw Failure(
                "the audit log was altered",
                hint: "compare it with an export or a backup",
                code: .refused
            )
        }
    }

    /// The maximum number of lines without `--json`, which shows all faults.
    private static let shownFaults = 50

    private func chain() async throws -> AuditChain {
        if file == nil {
            return try await place.auditing(
                here: { try await $0.auditChain(mustHold: head) },
                there: { pages in
                    var lines = AuditLines(mustHold: head)
                    try await pages.all { for entry in $0 { lines.take(entry.fileBytes + [UInt8(ascii: "\n")]) } }
                    return lines.finish()
                }
            )
        }
        var lines = AuditLines(mustHold: head)
        let reader = try DiskFiles().open(FilePath(argument: file ?? ""), limit: .max)
        while let bytes = try reader.next() { lines.take(bytes) }
        return lines.finish()
    }
}

extension AuditChain {
    var json: JSON {
        .fields([
            ("whole", .bool(faults.isEmpty)), ("entries", .integer(count)), ("head", .text(head)),
            ("faults", .array(faults.map(\.json))),
        ])
    }
}

struct AuditAcceptClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-clock",
        abstract: "Accept the machine's clock again after it was ahead.",
        discussion: """
            Token expiry is judged by the clock, or by the log's newest entry if the clock
            is behind it, so setting the clock back revives no token. After a clock was
            ahead, the log still has its time, and tokens are rejected. Check that the
            clock is right now, then run this command.

            EXAMPLES
              patchsrv audit accept-clock --data /srv/patchline
            """
    )

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print the result as JSON.")
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
            Console.standardOutput.line(Self.sentence(said, now))
        }
    }

    static func sentence(_ said: UTCTime, _ now: UTCTime) -> String {
        said > now
            ? "the time is \(now) from now on; the audit log had \(said)"
            : "the clock is not behind the audit log: nothing was changed"
    }
}

extension AuditChain.Fault {
    var sentence: String {
        switch self {
        case .unreadable(let row, let rule): "line \(row) is not an entry: \(rule)"
        case .edited(_, let number): "entry \(number) was edited"
        case .removed(let numbers) where numbers.count == 1: "entry \(numbers.lowerBound) was removed"
        case .removed(let numbers): "entries \(numbers.lowerBound) to \(numbers.upperBound) were removed"
        case .added(let row, let number): "line \(row) was inserted: another entry \(number) is in its place"
        case .misplaced(let row, let number, let after):
            "entry \(number) follows entry \(after), in line \(row): lines were swapped"
        case .exchanged(_, let number): "entry \(number) was rewritten with its hash: its neighbours have another hash"
        case .withoutHead(let head): "no entry has the hash \(head): the log was rewritten or shortened"
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
