import Glibc
import CSQLite

/// An error of SQLite, with its own message.
struct SQLiteError: Error, Equatable, Sendable {
    /// A primary result code, see <https://sqlite.org/rescode.html>.
    let code: Int32
    let message: String

    var isFull: Bool { code == SQLITE_FULL }
}

enum SQLiteValue: Sendable {
    case integer(Int)
    case text(String)
}

/// One connection to a SQLite file, used by one thread at a time.
///
/// It uses SQLite's C interface directly, because a library that needs all of Foundation adds 44 MB to a program.
@safe final class SQLiteConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private var isClosed = false

    /// Opens the file, or creates an empty one.
    ///
    /// - Parameter patience: The seconds to wait for another connection's commit.
    init(_ path: String, patience: Int) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let handle = unsafe opened else { throw SQLiteError(code: code, message: "there is no memory left") }
        guard code == SQLITE_OK else {
            let error = unsafe SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        unsafe self.handle = handle
        unsafe sqlite3_busy_timeout(handle, Int32(patience * 1_000))
    }

    deinit { close() }

    /// Closes the file.
    ///
    /// Later statements fail.
    ///
    /// The last connection of all processes moves SQLite's log into the file and removes it when it closes.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe sqlite3_close_v2(handle)
    }

    /// The number of rows changed by the last statement.
    var changedRows: Int { unsafe Int(sqlite3_changes64(handle)) }

    func execute(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
        try forEachRow(sql, values) { _ in true }
    }

    /// The first column of every row.
    func texts(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> [String] {
        var texts: [String] = []
        try forEachRow(sql, values) { row in
            texts.append(row.text(0))
            return true
        }
        return texts
    }

    /// Passes the rows to `continues` one by one, until there are no more or it returns false.
    ///
    /// - Precondition: `sql` is one statement.
    func forEachRow(
        _ sql: String,
        _ values: [SQLiteValue] = [],
        _ continues: (borrowing SQLiteRow) -> Bool
    ) throws(SQLiteError) {
        guard !isClosed else { throw SQLiteError(code: SQLITE_MISUSE, message: "the file was closed") }
        var prepared: OpaquePointer?
        var rest = 0
        let code = unsafe sql.withCString { text in
            var tail: UnsafePointer<CChar>?
            let code = unsafe sqlite3_prepare_v2(handle, text, -1, &prepared, &tail)
            rest = unsafe tail.map { unsafe strlen($0) } ?? 0
            return code
        }
        try check(code)
        precondition(rest == 0, "one statement at a time: \(sql)")
        guard let statement = unsafe prepared else { return }
        defer { unsafe sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let number):
                try check(unsafe sqlite3_bind_int64(statement, Int32(index + 1), Int64(number)))
            case .text(let text):
                try check(unsafe patchline_bind_text(statement, Int32(index + 1), text, Int32(text.utf8.count)))
            }
        }
        while true {
            let code = unsafe sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                return try check(code == SQLITE_DONE ? SQLITE_OK : code)
            }
            guard unsafe continues(SQLiteRow(statement)) else { return }
        }
    }

    /// Runs `work` in a transaction.
    ///
    /// Other connections cannot write meanwhile.
    func transaction<Failure: Error>(
        reportedAs report: (SQLiteError) -> Failure,
        _ work: () throws(Failure) -> Void
    ) throws(Failure) {
        do throws(SQLiteError) { try execute("BEGIN IMMEDIATE") } catch { throw report(error) }
        do throws(Failure) {
            try work()
            do throws(SQLiteError) { try execute("COMMIT") } catch { throw report(error) }
        } catch {
            // SQLite has already rolled back if the disk is full.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Copies a consistent state into `copy` while other connections continue to write.
    func backUp(to copy: SQLiteConnection) throws(SQLiteError) {
        guard let backup = unsafe sqlite3_backup_init(copy.handle, "main", handle, "main") else {
            throw copy.lastError(unsafe sqlite3_errcode(copy.handle))
        }
        // Copies all pages in one step, so that no writer can interrupt.
        let stepped = unsafe sqlite3_backup_step(backup, -1)
        let finished = unsafe sqlite3_backup_finish(backup)
        guard finished == SQLITE_OK else { throw copy.lastError(finished) }
        // `finish` does not report a lock of another connection.
        guard stepped == SQLITE_DONE else {
            throw unsafe SQLiteError(code: stepped & 0xFF, message: String(cString: sqlite3_errstr(stepped)))
        }
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw lastError(code) }
    }

    private func lastError(_ code: Int32) -> SQLiteError {
        unsafe SQLiteError(code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)))
    }
}

/// The current row of a statement.
///
/// It is valid until the statement advances.
@safe struct SQLiteRow: ~Copyable {
    private let statement: OpaquePointer

    fileprivate init(_ statement: OpaquePointer) {
        unsafe self.statement = statement
    }

    func text(_ column: Int32) -> String {
        guard let bytes = unsafe sqlite3_column_text(statement, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(statement, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func integer(_ column: Int32) -> Int { unsafe Int(sqlite3_column_int64(statement, column)) }
}
