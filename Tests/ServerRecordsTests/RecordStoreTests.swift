import Foundation
import PatchFormat
import SystemPackage
import Testing

@testable import ServerRecords

@Suite("The records")
struct RecordStoreTests {
    private let folder: RecordsFolder
    private let store: SQLiteRecords
    private let key = RecordKey("thing", "a")

    init() throws {
        folder = try RecordsFolder()
        store = try folder.store()
    }

    @Test func `count how often each was written`() async throws {
        try await store.commit([.insert(key, .integer(1))])
        let first = try #require(try await store.record(key))
        #expect(first == Record(key: key, revision: 1, value: .integer(1)))
        try await store.commit([.replace(first, with: .text("two\nlines"))])
        #expect(try await store.record(key) == Record(key: key, revision: 2, value: .text("two\nlines")))
    }

    @Test func `refuse a change of what somebody else has changed, and all that came with it`() async throws {
        try await store.commit([.insert(key, .integer(1))])
        let read = try #require(try await store.record(key))
        try await store.commit([.replace(read, with: .integer(2))])
        let other = RecordKey("thing", "b")
        await #expect(throws: RecordError.conflict(key)) {
            try await store.commit([.insert(other, .null), .replace(read, with: .integer(3))])
        }
        await #expect(throws: RecordError.conflict(key)) { try await store.commit([.remove(read)]) }
        await #expect(throws: RecordError.conflict(key)) { try await store.commit([.insert(key, .integer(4))]) }
        #expect(try await store.record(key)?.value == .integer(2))
        #expect(try await store.record(other) == nil)
    }

    @Test func `come in the order of their names' bytes, a page at a time, in both directions`() async throws {
        for name in ["b", "a/2", "a/10", "a/1", "é", "B"] {
            try await store.commit([.insert(RecordKey("thing", name), .null)])
        }
        try await store.commit([.insert(RecordKey("other", "a/3"), .null)])
        func names(_ range: RecordRange) async throws -> [String] { try await store.records(range).map(\.key.name) }
        #expect(try await names(RecordRange("thing", limit: 9)) == ["B", "a/1", "a/10", "a/2", "b", "é"])
        #expect(try await names(RecordRange("thing", prefix: "a/", limit: 9)) == ["a/1", "a/10", "a/2"])
        #expect(try await names(RecordRange("thing", after: "a/10", limit: 2)) == ["a/2", "b"])
        #expect(
            try await names(RecordRange("thing", prefix: "a/", after: "a/2", order: .descending, limit: 1)) == ["a/10"]
        )
    }

    @Test func `come as many as fit into so many bytes, and one at least`() async throws {
        for name in ["a", "b", "c"] {
            try await store.commit([.insert(RecordKey("thing", name), .text(String(repeating: "x", count: 98)))])
        }
        func count(_ bytes: Int) async throws -> Int {
            try await store.records(RecordRange("thing", limit: 9, bytes: bytes)).count
        }
        #expect(try await [count(0), count(100), count(199), count(200), count(300)] == [1, 1, 1, 2, 3])
    }

    @Test func `are one state for every process that has them open`() async throws {
        let other = try folder.store()
        try await store.commit([.insert(key, .integer(1))])
        #expect(try await other.record(key)?.value == .integer(1))
        try await withThrowingTaskGroup { group in
            for _ in 1...20 {
                for store in [store, other] {
                    group.addTask {
                        while true {
                            guard let read = try await store.record(self.key), case .integer(let count) = read.value
                            else { return }
                            do throws(RecordError) {
                                return try await store.commit([.replace(read, with: .integer(count + 1))])
                            } catch {
                                guard error == .conflict(self.key) else { throw error }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.record(key)?.value == .integer(41))
    }

    @Test func `are for the server's own user alone`() async throws {
        try await store.commit([.insert(key, .null)])
        for name in ["records.sqlite", "records.sqlite-wal", "records.sqlite-shm"] {
            let facts = try FileManager.default.attributesOfItem(atPath: folder.path.appending(name).string)
            #expect(facts[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func `survive in a copy that was made while others went on writing`() async throws {
        try await store.commit((1...300).map { .insert(RecordKey("thing", "before\($0)"), .integer($0)) })
        let copy = folder.path.appending("copy.sqlite")
        async let writing: Void = {
            for number in 1...50 { try await store.commit([.insert(RecordKey("thing", "while\(number)"), .null)]) }
        }()
        try store.backUp(to: copy)
        try await writing
        let restored = try SQLiteRecords(copy)
        #expect(try await restored.faults() == [])
        #expect(try await restored.records(RecordRange("thing", prefix: "before", limit: 999)).count == 300)
        #expect(try await store.records(RecordRange("thing", limit: 999)).count == 350)
    }

    @Test func `of a newer version are not touched`() async throws {
        try await store.commit([.insert(key, .integer(1))])
        try folder.tamper("INSERT INTO grdb_migrations VALUES ('9: other')")
        #expect(throws: RecordError.newerSchema(path: folder.file.string)) { try folder.store() }
    }

    /// `Earlier/records-1.sqlite` is what `patchsrv token new ci --grant '*=publisher'` wrote on 2026-11-23, with GRDB.
    @Test func `of an earlier program are read and written as they are`() async throws {
        let here = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let file = folder.path.appending("earlier.sqlite")
        try FileManager.default.copyItem(atPath: "/\(here)/Earlier/records-1.sqlite", toPath: file.string)
        let steps = "SELECT identifier FROM grdb_migrations"
        let before = try SQLiteConnection(file.string, patience: 10).texts(steps)
        let store = try SQLiteRecords(file)
        #expect(try await store.faults() == [])
        let tokens = try await ServerRecords(store, now: { folder.now }).tokens()
        #expect(tokens.map(\.name) == ["ci"] && tokens.first?.id == "921c7d6e318be73e")
        try await store.commit([.insert(key, .integer(1))])
        #expect(try await store.record(key)?.value == .integer(1))
        #expect(try SQLiteConnection(file.string, patience: 10).texts(steps) == before)
        #expect(before == ["1: records"])
    }

    @Test func `are on the disk once they are told to be`() async throws {
        #expect(try await store.setting("journal_mode") == "wal")
        #expect(try await store.setting("synchronous") == "2", "FULL: each commit is followed by an fsync of the log")
    }

    /// The program that wrote them may end in the next moment, and a copy may be made of this file alone.
    @Test func `are whole in one file once they are closed`() async throws {
        let other = try RecordsFolder()
        func write(_ number: Int) async throws {
            let store = try other.store()
            try await store.commit([.insert(RecordKey("thing", "\(number)"), .null)])
            #expect(FileManager.default.fileExists(atPath: other.file.string + "-wal"))
        }
        for number in 1...20 {
            try await write(number)
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.path.string) == ["records.sqlite"])
        }
    }

    @Test func `take nothing more once their connection is closed`() async throws {
        let lane = SQLiteLane(try SQLiteConnection(folder.file.string, patience: 10))
        lane.close()
        lane.close()
        await #expect(throws: RecordError.failed(path: "", reason: "the file was closed", isFull: false)) {
            try await lane.run { connection throws(RecordError) in
                do throws(SQLiteError) { try connection.execute("SELECT 1") } catch {
                    throw .failed(path: "", reason: error.message, isFull: error.isFull)
                }
            }
        }
    }

    @Test func `that are no database are refused with their path`() throws {
        let path = folder.path.appending("text.sqlite")
        try Data("this is a text, and long enough to have a header that is none".utf8)
            .write(to: URL(filePath: path.string))
        #expect(
            throws: RecordError.failed(path: path.string, reason: "file is not a database", isFull: false)
        ) { try SQLiteRecords(path) }
    }

    @Test func `that somebody broke are named`() async throws {
        try await store.commit([.insert(key, .null)])
        try folder.tamper("UPDATE record SET value = '{'")
        await #expect {
            _ = try await store.record(key)
        } throws: { error in
            guard let error = error as? RecordError, case .malformed(let found, let rule) = error else { return false }
            return found == key && rule.hasPrefix("the record")
        }
    }
}
