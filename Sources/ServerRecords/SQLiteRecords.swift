import GRDB
import PatchFormat
package import SystemPackage

/// The records in one SQLite file, with its write-ahead log beside it.
///
/// Any number of processes may have it open: `patchsrv serve`, and a command beside it.
package struct SQLiteRecords: RecordStore {
    /// How long one process waits for another's commit.
    private static let patience = 10.0

    package let path: FilePath
    private let pool: DatabasePool

    /// Makes the file where there is none, and brings an older one up to date.
    ///
    /// Blocks for as long as the disk takes. The file is readable by its owner alone.
    package init(_ path: FilePath) throws(RecordError) {
        var configuration = Configuration()
        configuration.label = "patchsrv"
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { db in
            // A commit that was told to somebody survives a power cut.
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        do {
            try Self.makePrivate(path)
            pool = try DatabasePool(path: path.string, configuration: configuration)
            guard try !pool.read(RecordSchema.migrator.hasBeenSuperseded) else { throw SchemaIsNewer() }
            try RecordSchema.migrator.migrate(pool)
        } catch is SchemaIsNewer {
            throw .newerSchema(path: path.string)
        } catch { throw Self.error(error, at: path) }
        self.path = path
    }

    package func record(_ key: RecordKey) async throws(RecordError) -> Record? {
        let row = try await access { db in
            try StoredRecord.fetchOne(
                db,
                sql: "SELECT * FROM record WHERE collection = ? AND name = ?",
                arguments: [key.collection, key.name]
            )
        }
        return try row.map { (row) throws(RecordError) in try row.record() }
    }

    package func records(_ range: RecordRange) async throws(RecordError) -> [Record] {
        let (comparison, order) = range.order == .ascending ? (">", "ASC") : ("<", "DESC")
        var sql = "SELECT * FROM record WHERE collection = ?"
        var arguments: StatementArguments = [range.collection]
        if !range.prefix.isEmpty {
            sql += " AND name >= ? AND name < ?"
            arguments += [range.prefix, range.prefix + "\u{10FFFF}"]
        }
        if let after = range.after {
            sql += " AND name \(comparison) ?"
            arguments += [after]
        }
        sql += " ORDER BY name \(order) LIMIT ?"
        arguments += [range.limit]
        let (query, values) = (sql, arguments)
        let rows = try await access { db in
            var (rows, bytes): ([StoredRecord], Int) = ([], 0)
            let cursor = try StoredRecord.fetchCursor(db, sql: query, arguments: values)
            while let row = try cursor.next() {
                bytes += row.value.utf8.count
                guard rows.isEmpty || bytes <= range.bytes else { break }
                rows.append(row)
            }
            return rows
        }
        var records: [Record] = []
        for row in rows { records.append(try row.record()) }
        return records
    }

    package func count(_ collection: String, prefix: String) async throws(RecordError) -> Int {
        try await access { db in
            try Int.fetchOne(
                db,
                sql: "SELECT COUNT(*) FROM record WHERE collection = ? AND name >= ? AND name < ?",
                arguments: [collection, prefix, prefix + "\u{10FFFF}"]
            ) ?? 0
        }
    }

    package func commit(_ changes: [RecordChange]) async throws(RecordError) {
        do {
            try await pool.write { db in
                for change in changes { try Self.carryOut(change, in: db) }
            }
        } catch { throw Self.error(error, at: path) }
    }

    /// A copy of the state of one moment, while others go on writing; the file must not be there yet.
    package func backUp(to copy: FilePath) throws(RecordError) {
        do {
            try Self.makePrivate(copy)
            let queue = try DatabaseQueue(path: copy.string)
            try pool.backup(to: queue)
            try queue.close()
        } catch { throw Self.error(error, at: copy) }
    }

    /// What SQLite finds wrong with the file; empty when it is sound.
    package func faults() async throws(RecordError) -> [String] {
        let lines = try await access { db in try String.fetchAll(db, sql: "PRAGMA integrity_check(20)") }
        return lines == ["ok"] ? [] : lines
    }

    private func access<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(RecordError) -> Value {
        do { return try await pool.read(work) } catch { throw Self.error(error, at: path) }
    }

    private static func carryOut(_ change: RecordChange, in db: Database) throws {
        let name: StatementArguments = [change.key.collection, change.key.name]
        switch (change.expected, change.value) {
        case (.absent, let value?):
            try db.execute(
                sql: "INSERT OR IGNORE INTO record (collection, name, revision, value) VALUES (?, ?, 1, ?)",
                arguments: name + [value.line]
            )
        case (.revision(let revision), let value?):
            try db.execute(
                sql: """
                    UPDATE record SET revision = revision + 1, value = ?
                    WHERE collection = ? AND name = ? AND revision = ?
                    """,
                arguments: [value.line] + name + [revision]
            )
        case (.revision(let revision), nil):
            try db.execute(
                sql: "DELETE FROM record WHERE collection = ? AND name = ? AND revision = ?",
                arguments: name + [revision]
            )
        case (.absent, nil):
            preconditionFailure("there is no such change")
        }
        guard db.changesCount == 1 else { throw RecordError.conflict(change.key) }
    }

    private static func error(_ error: any Error, at path: FilePath) -> RecordError {
        if let error = error as? RecordError { return error }
        let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
        let reason = (error as? DatabaseError)?.message ?? "\(error)"
        return .failed(path: path.string, reason: reason, isFull: isFull)
    }

    /// SQLite gives the files beside it the same permissions.
    private static func makePrivate(_ path: FilePath) throws {
        try FileDescriptor.open(
            path,
            .readWrite,
            options: [.create],
            permissions: FilePermissions(rawValue: 0o600)
        ).close()
    }
}

private struct SchemaIsNewer: Error {}

/// A row as it lies in the file.
private struct StoredRecord: FetchableRecord, Sendable {
    let key: RecordKey
    let revision: Int
    let value: String

    init(row: Row) {
        key = RecordKey(row["collection"], row["name"])
        revision = row["revision"]
        value = row["value"]
    }

    func record() throws(RecordError) -> Record {
        do throws(FormatError) {
            let value = try JSON.document(Array(value.utf8), named: "the record", limit: Limits.stateFile)
            return Record(key: key, revision: revision, value: value)
        } catch { throw .malformed(key, rule: error.description) }
    }
}

extension JSON {
    /// As it is written in a row: one line.
    fileprivate var line: String { String(decoding: fileBytes, as: UTF8.self) }
}
