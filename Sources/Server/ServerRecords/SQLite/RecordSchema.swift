/// All versions of the file's schema, in order.
///
/// A released step is never edited.
enum RecordSchema {
    private static let steps: [(name: String, sql: String)] = [
        (
            "1: records",
            """
            CREATE TABLE record (
              collection TEXT NOT NULL,
              name TEXT NOT NULL,
              revision INTEGER NOT NULL,
              value TEXT NOT NULL,
              PRIMARY KEY (collection, name)
            ) WITHOUT ROWID
            """
        )
    ]

    /// The table of completed steps.
    ///
    /// It has the name used by the library that wrote the first files.
    private static let table = "grdb_migrations"

    /// Whether the file has a schema that this program does not know.
    static func isNewer(in connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        !Set(try taken(in: connection)).subtracting(steps.map(\.name)).isEmpty
    }

    /// Brings the file up to date, or does nothing if it already is.
    static func migrate(_ connection: SQLiteConnection) throws(SQLiteError) {
        guard try taken(in: connection).count < steps.count else { return }
        try connection.transaction(reportedAs: { $0 }) { () throws(SQLiteError) in
            try connection.execute("CREATE TABLE IF NOT EXISTS \(table) (identifier TEXT NOT NULL PRIMARY KEY)")
            // Another process may have migrated it first.
            let taken = Set(try Self.taken(in: connection))
            for step in steps where !taken.contains(step.name) {
                try connection.execute(step.sql)
                try connection.execute("INSERT INTO \(table) (identifier) VALUES (?)", [.text(step.name)])
            }
        }
    }

    private static func taken(in connection: SQLiteConnection) throws(SQLiteError) -> [String] {
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?"
        guard try !connection.texts(tables, [.text(table)]).isEmpty else { return [] }
        return try connection.texts("SELECT identifier FROM \(table)")
    }
}
