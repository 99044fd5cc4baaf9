import PatchFormat
import PatchCrypto
import Testing

@testable import ServerRecords

@Suite("The audit log")
struct AuditTests {
    private let folder: RecordsFolder
    private let records: ServerRecords

    init() throws {
        folder = try RecordsFolder()
        records = try folder.records()
    }

    private func note(_ count: Int) async throws {
        for number in 1...count {
            try await records.commit(
                [],
                noting: .init("thing.do", by: .local(user: "ada"), before: .null, after: .integer(number))
            )
            folder.pass(.seconds(1))
        }
    }

    @Test func `binds each entry to the one before it`() async throws {
        try await note(3)
        let entries = try await records.auditEntries(after: 0)
        #expect(entries.map(\.number) == [1, 2, 3])
        #expect(entries[0].json["previous"] == .text(String(repeating: "0", count: 64)))
        #expect(entries[2].json["previous"] == .text(entries[1].hash))
        let second = try #require(entries[1].json.object)
        var body = second
        body["hash"] = nil
        let bytes = Array("patchline-audit-v1\n".utf8) + JSON.object(body).canonicalBytes
        #expect(second["hash"] == .text(SHA256Digest(of: bytes).hex))
        let chain = try await records.auditChain()
        #expect(chain.faults == [] && chain.count == 3 && chain.head == entries[2].hash)
    }

    @Test func `says who did what to what, before and after`() async throws {
        let app = try #require(AppID("com.example.shop"))
        try await records.commit(
            [],
            noting: .init(
                "dial.turn",
                by: .token(id: "0123456789abcdef", name: "ci"),
                app: app,
                channel: ChannelName("beta"),
                before: .integer(1),
                after: .integer(2)
            )
        )
        let entry = try #require(try await records.lastAuditEntry())
        #expect(
            entry.json.text.hasPrefix(
                #"{"action":"dial.turn","actor":{"id":"0123456789abcdef","kind":"token","name":"ci"},"after":2,"#
                    + #""app":"com.example.shop","before":1,"channel":"beta","hash":""#
            ),
            "\(entry.json.text)"
        )
    }

    @Test func `is written with the change that it tells of, or not at all`() async throws {
        let key = RecordKey("thing", "a")
        try await records.commit([.insert(key, .null)], noting: .init("thing.make", by: .server))
        await #expect(throws: RecordError.conflict(key)) {
            try await records.commit([.insert(key, .null)], noting: .init("thing.make", by: .server))
        }
        #expect(try await records.auditEntries(after: 0).count == 1)
    }

    @Test func `says when it was by the clock, and since when at least where that is behind the one before`()
        async throws
    {
        let start = folder.now
        for hours in [0, -2, 0, 3] {
            folder.pass(.hours(hours))
            try await records.commit([], noting: .init("thing.do", by: .server))
        }
        let log = try await records.auditEntries(after: 0)
        let back = JSON.text(start.adding(.hours(-2)).description)
        #expect(log.map { $0.json["time"] }.dropFirst() == [back, back, .text(start.adding(.hours(1)).description)])
        #expect(log.map { $0.json["notBefore"] } == [nil, .text(start.description), .text(start.description), nil])
        #expect(try await records.auditChain().faults.isEmpty)
    }

    @Test func `comes on pages of a megabyte, however long its entries are`() async throws {
        let long = JSON.text(String(repeating: "x", count: 300_000))
        for _ in 1...5 { try await records.commit([], noting: .init("thing.do", by: .server, after: long)) }
        let first = try await records.auditPage(after: 0, limit: 100)
        #expect(first.entries.map(\.number) == [1, 2, 3] && first.next == 3)
        let rest = try await records.auditPage(after: 3, limit: 100)
        #expect(rest.entries.map(\.number) == [4, 5] && rest.next == nil)
        let chain = try await records.auditChain()
        #expect(chain.faults == [] && chain.count == 5)
    }

    @Test func `loses nothing of many who write at once`() async throws {
        let other = try folder.records()
        try await withThrowingTaskGroup { group in
            for number in 1...30 {
                for records in [records, other] {
                    group.addTask { try await records.commit([], noting: .init("thing.\(number)", by: .server)) }
                }
            }
            try await group.waitForAll()
        }
        let chain = try await records.auditChain()
        #expect(chain.faults == [] && chain.count == 60)
    }

    @Test func `shows an entry that was edited`() async throws {
        try await note(5)
        try folder.tamper(
            "UPDATE record SET value = replace(value, '\"after\":3', '\"after\":4') WHERE name LIKE '%3'"
        )
        #expect(try await records.auditChain().faults == [.edited(row: 3, number: 3)])
    }

    @Test func `shows an entry whose hash was made anew`() async throws {
        try await note(3)
        let second = try #require(try await records.auditEntries(after: 1).first)
        var body = try #require(second.json.object)
        body["after"] = .integer(9)
        let forged = try AuditEntry(.object(body), key: second.key).rightHash
        body["hash"] = .text(forged)
        try folder.tamper("UPDATE record SET value = '\(JSON.object(body).text)' WHERE name LIKE '%2'")
        #expect(try await records.auditChain().faults == [.exchanged(row: 2, number: 2)])
    }

    private func entry(_ number: Int, after last: AuditEntry) throws -> AuditEntry {
        var body = try #require(last.json.object)
        body["number"] = .integer(number)
        body["previous"] = .text(last.hash)
        let forged = try AuditEntry(.object(body), key: AuditEntry.key(number)).rightHash
        body["hash"] = .text(forged)
        return try AuditEntry(.object(body), key: AuditEntry.key(number))
    }

    @Test(.timeLimit(.minutes(20)), arguments: [9_007_199_254_740_991, 2_000_000_000_000])
    func `with the largest number in it is judged at once`(_ number: Int) async throws {
        try await note(3)
        let log = try await records.auditEntries(after: 0)
        var chain = AuditChain()
        for entry in log + [try entry(number, after: log[2])] { chain.take(entry) }
        chain.finish()
        #expect(chain.faults == [.removed(4...number - 1)] && chain.count == 4)
    }

    @Test(.timeLimit(.minutes(20))) func `in which one number stands thousands of times is judged at once`()
        async throws
    {
        try await note(3)
        let log = try await records.auditEntries(after: 0)
        var chain = AuditChain()
        for entry in log { chain.take(entry) }
        for _ in 0..<2_000 { for entry in log.dropFirst() { chain.take(entry) } }
        chain.finish()
        #expect(chain.faults.count == 4_000 && chain.faults.first == .added(row: 4, number: 2))
    }

    @Test func `takes nothing more when its last number is the last that a reader takes`() async throws {
        try await note(1)
        let last = try #require(try await records.lastAuditEntry())
        let end = try entry(AuditEntry.largestNumber, after: last)
        try folder.tamper(
            "UPDATE record SET name = '\(end.key.name)', value = '\(end.json.text)' WHERE collection = 'audit'"
        )
        await #expect(throws: RecordError.malformed(end.key, rule: "is the last that a log can have")) {
            try await note(1)
        }
        #expect(try await records.lastAuditEntry() == end)
    }

    @Test(.timeLimit(.minutes(20))) func `whose entries stand under other numbers ends when it is read and written`()
        async throws
    {
        try await note(3)
        let third = AuditEntry.key(3)
        try folder.tamper(
            "UPDATE record SET value = replace(value, '\"number\":3', '\"number\":1') WHERE name LIKE '%3'"
        )
        // The entry says that it is the first: the page behind it would begin with itself, and the next one stand where it does.
        #expect(try await records.auditChain().count == 3)
        #expect(try await records.auditPage(after: 0, limit: 2).next == 2)
        #expect(try await records.auditPage(after: 2, limit: 2).next == nil)
        await #expect(throws: RecordError.malformed(third, rule: "holds entry 1 of the audit log")) {
            try await note(1)
        }
    }

    @Test func `shows that an entry was removed`() async throws {
        try await note(4)
        try folder.tamper("DELETE FROM record WHERE collection = 'audit' AND name LIKE '%2'")
        #expect(try await records.auditChain().faults == [.removed(2...2)])
    }

    @Test func `shows that it was cut or written anew to whoever wrote a hash down`() async throws {
        try await note(4)
        let head = try await records.auditChain().head
        #expect(try await records.auditChain(mustHold: head).faults == [])
        try await note(1)
        #expect(try await records.auditChain(mustHold: head).faults == [])
        try folder.tamper("DELETE FROM record WHERE collection = 'audit' AND (name LIKE '%4' OR name LIKE '%5')")
        #expect(try await records.auditChain().faults == [])
        #expect(try await records.auditChain(mustHold: head).faults == [.withoutHead(head)])
    }

    // MARK: - As it was exported

    private func exported() async throws -> [String] {
        try await note(6)
        return try await records.auditEntries(after: 0).map(\.json.text)
    }

    private func chain(_ lines: [String], mustHold head: String? = nil, pieces: Int = 1_000) -> AuditChain {
        var judge = AuditLines(mustHold: head)
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            judge.take(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return judge.finish()
    }

    @Test func `is judged without the server, however its bytes come`() async throws {
        let lines = try await exported()
        let own = try await records.auditChain()
        for pieces in [1, 7, 100_000] {
            let chain = chain(lines, pieces: pieces)
            #expect(chain.faults == [] && chain.count == 6 && chain.head == own.head, "\(pieces)")
        }
        #expect(chain([]).head == String(repeating: "0", count: 64) && chain([]).faults == [])
        #expect(chain(lines, mustHold: own.head).faults == [])
        #expect(chain(lines.dropLast(), mustHold: own.head).faults == [.withoutHead(own.head)])
    }

    @Test func `names the lines that were edited, removed, exchanged or put in`() async throws {
        let lines = try await exported()
        func altered(_ alter: (inout [String]) throws -> Void) rethrows -> [AuditChain.Fault] {
            var copy = lines
            try alter(&copy)
            return chain(copy).faults
        }
        #expect(
            altered { $0[2] = $0[2].replacing("\"after\":3", with: "\"after\":9") } == [.edited(row: 3, number: 3)]
        )
        #expect(altered { $0.remove(at: 0) } == [.removed(1...1)])
        #expect(altered { $0.removeSubrange(2...3) } == [.removed(3...4)])
        #expect(altered { $0.swapAt(1, 2) } == [.misplaced(row: 3, number: 2, after: 3)])
        #expect(altered { $0.insert($0[1], at: 4) } == [.added(row: 5, number: 2)])
        #expect(altered { $0[3] = $0[3].replacing("\"number\":4", with: "\"number\":9") }.contains(.removed(4...4)))
        #expect(
            altered {
                $0[1] = "{}"; $0[4] = "x"
            }.map { if case .unreadable(let row, _) = $0 { row } else { 0 } } == [
                2, 5, 0, 0,
            ]
        )
        // Written anew, hash and all: in the place of another, beside it, and as the first.
        let forged = try [3, 1].map { number in
            let key = AuditEntry.key(1)
            let entry = try AuditEntry(
                JSON.document(Array(lines[number - 1].utf8), named: "", limit: 9_999),
                key: key
            )
            var body = try #require(entry.json.object)
            body["after"] = .integer(99)
            body["hash"] = .text(try AuditEntry(.object(body), key: key).rightHash)
            return JSON.object(body).text
        }
        #expect(altered { $0[2] = forged[0] } == [.exchanged(row: 3, number: 3)])
        #expect(altered { $0.insert(forged[0], at: 2) } == [.added(row: 3, number: 3)])
        #expect(altered { $0[0] = forged[1] } == [.exchanged(row: 1, number: 1)])
    }
}
