import GRDB

/// Every form that the file has had, in order; a step that has been released is never edited.
enum RecordSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: records") { db in
            try db.execute(
                sql: """
                    CREATE TABLE record (
                      collection TEXT NOT NULL,
                      name TEXT NOT NULL,
                      revision INTEGER NOT NULL,
                      value TEXT NOT NULL,
                      PRIMARY KEY (collection, name)
                    ) WITHOUT ROWID
                    """
            )
        }
        return migrator
    }
}
