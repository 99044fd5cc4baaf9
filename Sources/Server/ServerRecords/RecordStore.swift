/// Where a server keeps what it must remember and does not publish: tokens, the audit log, the history of releases.
///
/// Its one hard verb is ``commit(_:)``: compare-and-swap over any number of records, all or nothing, durable when it
/// returns. A table in SQLite does that, one in PostgreSQL, and an object store with conditional writes can be taught to.
package protocol RecordStore: Sendable {
    func record(_ key: RecordKey) async throws(RecordError) -> Record?
    /// As many of a range as its limits allow: at least one where there is one.
    func records(_ range: RecordRange) async throws(RecordError) -> [Record]
    /// How many records of a collection have names that begin so.
    func count(_ collection: String, prefix: String) async throws(RecordError) -> Int
    /// - Throws: `conflict` with the first key whose record is not as expected; then nothing was changed.
    func commit(_ changes: [RecordChange]) async throws(RecordError)
}
