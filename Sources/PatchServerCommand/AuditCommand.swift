import ArgumentParser
import CommandSupport
import PatchFormat
import PatchServer
import ServerRecords
import Terminal

/// `patchsrv audit`: what was done, by whom.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Shows, exports and verifies the log of every change.",
        discussion: """
            Each entry holds the hash of the one before it, so an entry that was edited, removed or put in between is found.
            Whoever writes the last hash down somewhere else also sees when the whole log was written anew: --head asks that
            it is in the log.

            EXAMPLES
              patchsrv audit list --data /srv/patchline
              patchsrv audit export --data /srv/patchline > audit.jsonl
              patchsrv audit verify --data /srv/patchline --head 3f2a…
              patchsrv audit accept-clock --data /srv/patchline

            EXIT CODES
              0   the log is whole
              3   an entry is not what was written (verify)
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
            for entry in entries { console.line(printable(entry.line)) }
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
            var last = 0
            while true {
                let page = try await records.auditEntries(after: last)
                for entry in page { Console.standardOutput.line(entry.json.line) }
                guard let end = page.last?.number else { return }
                last = end
            }
        }
    }
}

struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Walks the log and says whether every entry is what was written."
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("A hash that was written down earlier and must be in the log.", valueName: "hash"))
    var head: String?

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let records = try folder.records()
            let chain = try await records.auditChain(mustHold: head)
            if let fault = chain.fault {
                throw Failure(fault.sentence, hint: "compare it with an export or a backup", exitCode: .refused)
            }
            if json {
                let outcome = JSON.fields([("entries", .integer(chain.count)), ("head", .text(chain.head))])
                return Console.standardOutput.line(outcome.pretty())
            }
            Console.standardOutput.line(
                "\(chain.count) entries, each as it was written; the last hash is \(chain.head)"
            )
        }
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
        case .edited(let number): "entry \(number) of the audit log was edited"
        case .broken(let after, let found):
            "after entry \(after) of the audit log comes \(found), which does not follow it: one was removed, put in or exchanged"
        case .withoutHead(let head): "the audit log does not hold the hash \(head): it was written anew, or cut"
        }
    }
}

extension AuditEntry {
    /// One line, the number first.
    fileprivate var line: String {
        let place = [text("app"), text("channel")].compactMap(\.self).joined(separator: " ")
        let who = json["actor"]?["name"] ?? json["actor"]?["kind"]
        let parts = ["\(number)", text("time"), text("action"), place.isEmpty ? nil : place, Self.text(who)]
        return parts.compactMap(\.self).joined(separator: "  ")
    }

    private func text(_ key: String) -> String? { Self.text(json[key]) }

    private static func text(_ value: JSON?) -> String? {
        guard case .string(let text) = value else { return nil }
        return text.text
    }
}
