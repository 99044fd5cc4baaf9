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
        abstract: "Shows, exports and verifies the log of every change.",
        discussion: """
            Each entry holds the hash of the one before it, so an entry that was edited, removed, exchanged or put in between
            is found, in a log that was exported as well. Whoever writes the last hash down somewhere else also sees when the
            log was cut off at its end, or written anew: --head asks that it is in the log.

            EXAMPLES
              patchsrv audit list --data /srv/patchline
              patchsrv audit list --server https://patches.example.com --token-file admin.token
              patchsrv audit export --data /srv/patchline > audit.jsonl
              patchsrv audit verify --data /srv/patchline --head 3f2a…
              patchsrv audit accept-clock --data /srv/patchline
              patchsrv audit verify audit.jsonl
            """
                + exitCodes([
                    .done: "the log is whole",
                    .refused: "an entry is not what was written (verify)",
                    .network: "the server of --server cannot be reached, or cannot do it now",
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
        abstract: "Shows the newest entries, and what each of them changed.",
        discussion: """
            EXAMPLES
              patchsrv audit list --data /srv/patchline
            """
    )

    @OptionGroup var place: PlaceOptions

    @Option(help: ArgumentHelp("How many.", valueName: "count"))
    var last = 20

    @Flag(help: "Print them as JSON.")
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
        abstract: "Prints the whole log, an entry a line, as JSON.",
        discussion: """
            EXAMPLES
              patchsrv audit export --data /srv/patchline > audit.jsonl
            """
    )

    @OptionGroup var place: PlaceOptions

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
        abstract: "Checks that no entry of the log was changed, and names those that were.",
        discussion: """
            EXAMPLES
              patchsrv audit verify --data /srv/patchline
              patchsrv audit verify audit.jsonl
            """
    )

    @Argument(help: ArgumentHelp("A log that was exported, in place of the server's own.", valueName: "file"))
    var file: String?

    @OptionGroup var place: PlaceOptions

    @Option(help: ArgumentHelp("A hash that was written down earlier and must be in the log.", valueName: "hash"))
    var head: String?

    @Flag(help: "Print the outcome as JSON.")
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
                "the audit log is not what was written",
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
        abstract: "Takes the machine's clock at its word again, after it had been ahead.",
        discussion: """
            Whether a token has expired is judged by the clock, or by the newest entry of the log where the clock is behind it, so
            that a clock that was set back revives no token. After a clock that was years ahead for a while the log says so
            still, and tokens are refused: make sure that the clock is right now, and say so with this.

            EXAMPLES
              patchsrv audit accept-clock --data /srv/patchline
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
            Console.standardOutput.line(Self.sentence(said, now))
        }
    }

    static func sentence(_ said: UTCTime, _ now: UTCTime) -> String {
        said > now
            ? "from now on the time is \(now); the audit log said \(said)"
            : "the clock is not behind the audit log: nothing was changed"
    }
}

extension AuditChain.Fault {
    var sentence: String {
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
