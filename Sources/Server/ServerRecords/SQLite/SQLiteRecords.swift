import PatchFormat
package import SystemPackage

/// The records in one SQLite file, with its write-ahead log beside it.
///
/// Any number of processes may open it, for example `patchsrv serve` and a command.
package final class SQLiteRecords: RecordStore {
    /// The seconds that a process waits for another's commit.
    private static let patience = 10
    /// The number of concurrent readers.
    private static let readers = 4

    package let path: FilePath
    private let writer: SQLiteLane
    private let readers: [SQLiteLane]

    /// Creates the file if it does not exist, and migrates an older one.
    ///
    /// Blocks during disk access. Only its owner can read the file.
    package init(_ path: FilePath) throws(RecordError) {
        try Self.makePrivate(path)
        let connection: SQLiteConnection
        let isNewer: Bool
        do throws(SQLiteError) {
            connection = try SQLiteConnection(path.string, patience: Self.patience)
            isNewer = try RecordSchema.isNewer(in: connection)
        } catch { throw Self.error(error, at: path) }
        guard !isNewer else { throw .newerSchema(path: path.string) }
        var others: [SQLiteLane] = []
        let journal: [String]
        do throws(SQLiteError) {
            journal = try connection.texts("PRAGMA journal_mode = WAL")
            // A reported commit survives a power cut.
            try connection.execute("PRAGMA synchronous = FULL")
            try RecordSchema.migrate(connection)
            for _ in 0..<Self.readers {
                let reader = try SQLiteConnection(path.string, patience: Self.patience)
                try reader.execute("PRAGMA query_only = ON")
                others.append(SQLiteLane(reader))
            }
        } catch { throw Self.error(error, at: path) }
        guard journal == ["wal"] else {
            throw .failed(path: path.string, reason: "its file system has no write-ahead log", isFull: false)
        }
        writer = SQLiteLane(connection)
        readers = others
        self.path = path
        OpenRecords.add(lanes, of: self)
    }

    /// Closes on the thread that releases the records, because a lane's last closure may outlive its result.
    ///
    /// A command that ended there would leave SQLite's log beside the file.
    deinit {
        for lane in lanes { lane.close() }
        OpenRecords.remove(self)
    }

    /// All lanes, the writer last, because it moves the log into the file.
    private var lanes: [SQLiteLane] { readers + [writer] }

    package func record(_ key: RecordKey) async throws(RecordError) -> Record? {
        let rows = try await rows(
            "SELECT \(StoredRecord.columns) FROM record WHERE collection = ? AND name = ?",
            [.text(key.collection), .text(key.name)]
        )
        return try rows.first.map { (row) throws(RecordError) in try row.record() }
    }

    package func records(_ range: RecordRange) async throws(RecordError) -> [Record] {
        let (comparison, order) = range.order == .ascending ? (">", "ASC") : ("<", "DESC")
        var sql = "SELECT \(StoredRecord.columns) FROM record WHERE collection = ?"
        var values: [SQLiteValue] = [.text(range.collection)]
        if !range.prefix.isEmpty {
            sql += " AND name >= ? AND name < ?"
            values += Self.names(beginning: range.prefix)
        }
        if let after = range.after {
            sql += " AND name \(comparison) ?"
            values += [.text(after)]
        }
        sql += " ORDER BY name \(order) LIMIT ?"
        values += [.integer(range.limit)]
        var records: [Record] = []
        for row in try await rows(sql, values, upTo: range.bytes) { records.append(try row.record()) }
        return records
    }

    package func count(_ collection: String, prefix: String) async throws(RecordError) -> Int {
        let values = [.text(collection)] + Self.names(beginning: prefix)
        return try await reading { (connection) throws(SQLiteError) in
            var count = 0
            try connection.forEachRow(
                "SELECT COUNT(*) FROM record WHERE collection = ? AND name >= ? AND name < ?",
                values
            ) { row in
                count = row.integer(0)
                return true
            }
            return count
        }
    }

    package func commit(_ changes: [RecordChange]) async throws(RecordError) {
        try await writer.run { [path] (connection) throws(RecordError) in
            let report = { (error: SQLiteError) in Self.error(error, at: path) }
            try connection.transaction(reportedAs: report) { () throws(RecordError) in
                for change in changes {
                    do throws(SQLiteError) { try Self.carryOut(change, in: connection) } catch { throw report(error) }
                    guard connection.changedRows == 1 else { throw .conflict(change.key) }
                }
            }
        }
    }

    /// Makes a consistent copy while other connections continue to write.
    ///
    /// The file must not exist yet.
    package func backUp(to copy: FilePath) throws(RecordError) {
        try Self.makePrivate(copy)
        do throws(SQLiteError) {
            let source = try SQLiteConnection(path.string, patience: Self.patience)
            try source.backUp(to: try SQLiteConnection(copy.string, patience: Self.patience))
        } catch { throw Self.error(error, at: copy) }
    }

    /// The faults that SQLite finds in the file, empty if there are none.
    package func faults() async throws(RecordError) -> [String] {
        let lines = try await reading { (connection) throws(SQLiteError) in
            try connection.texts("PRAGMA integrity_check(20)")
        }
        return lines == ["ok"] ? [] : lines
    }

    /// A setting of the writing connection, as SQLite reports it.
    func setting(_ name: String) async throws(RecordError) -> String? {
        try await writer.run { [path] (connection) throws(RecordError) in
            do throws(SQLiteError) { return try connection.texts("PRAGMA \(name)").first } catch {
                throw Self.error(error, at: path)
            }
        }
    }

    /// - Parameter limit: The size of the values in bytes. The first row is returned regardless of its size.
    private func rows(
        _ sql: String,
        _ values: [SQLiteValue],
        upTo limit: Int = .max
    ) async throws(RecordError) -> [StoredRecord] {
        try await reading { (connection) throws(SQLiteError) in
            var (rows, bytes): ([StoredRecord], Int) = ([], 0)
            try connection.forEachRow(sql, values) { row in
                let record = StoredRecord(row)
                bytes += record.value.utf8.count
                guard rows.isEmpty || bytes <= limit else { return false }
                rows.append(record)
                return true
            }
            return rows
        }
    }

    private func reading<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(SQLiteError) -> Value
    ) async throws(RecordError) -> Value {
        // The least busy reader, so that a long response does not delay a short one while another reader is idle.
        let reader = readers.min { $0.waiting < $1.waiting } ?? writer
        return try await reader.run { [path] (connection) throws(RecordError) in
            do throws(SQLiteError) { return try work(connection) } catch { throw Self.error(error, at: path) }
        }
    }

    /// The bounds of all names with this prefix.
    private static func names(beginning prefix: String) -> [SQLiteValue] {
        [.text(prefix), .text(prefix + "\u{10FFFF}")]
    }

    private static func carryOut(_ change: RecordChange, in connection: SQLiteConnection) throws(SQLiteError) {
        let name: [SQLiteValue] = [.text(change.key.collection), .text(change.key.name)]
        switch (change.expected, change.value) {
        case (.absent, let value?):
            try connection.execute(
                "INSERT OR IGNORE INTO record (collection, name, revision, value) VALUES (?, ?, 1, ?)",
                name + [.text(value.line)]
            )
        case (.revision(let revision), let value?):
            try connection.execute(
                """
                UPDATE record SET revision = revision + 1, value = ?
                WHERE collection = ? AND name = ? AND revision = ?
                """,
                [.text(value.line)] + name + [.integer(revision)]
            )
        case (.revision(let revision), nil):
            try connection.execute(
                "DELETE FROM record WHERE collection = ? AND name = ? AND revision = ?",
                name + [.integer(revision)]
            )
        case (.absent, nil):
            preconditionFailure("there is no such change")
        }
    }

    private static func error(_ error: SQLiteError, at path: FilePath) -> RecordError {
        .failed(path: path.string, reason: error.message, isFull: error.isFull)
    }

    /// Makes the file readable by its owner only.
    ///
    /// SQLite gives the files beside it the same permissions.
    private static func makePrivate(_ path: FilePath) throws(RecordError) {
        do {
            try FileDescriptor.open(
                path,
                .readWrite,
                options: [.create],
                permissions: FilePermissions(rawValue: 0o600)
            ).close()
        } catch { throw .failed(path: path.string, reason: "\(error)", isFull: false) }
    }
}

/// A row of the table.
private struct StoredRecord: Sendable {
    static let columns = "collection, name, revision, value"

    let key: RecordKey
    let revision: Int
    let value: String

    init(_ row: borrowing SQLiteRow) {
        key = RecordKey(row.text(0), row.text(1))
        revision = row.integer(2)
        value = row.text(3)
    }

    func record() throws(RecordError) -> Record {
        do throws(FormatError) {
            let value = try JSON.document(Array(value.utf8), named: "the record", limit: Limits.stateFile)
            return Record(key: key, revision: revision, value: value)
        } catch { throw .malformed(key, rule: error.description) }
    }
}

extension JSON {
    /// The JSON on one line, as stored in a row.
    fileprivate var line: String { String(decoding: fileBytes, as: UTF8.self) }
}
