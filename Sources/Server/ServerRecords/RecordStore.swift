/// The storage for a server's unpublished data: tokens, the audit log, the history of releases.
///
/// ``commit(_:)`` is the only demanding method: compare-and-swap over any number of records, all or nothing, durable when it
/// returns. SQLite, PostgreSQL, and object stores with conditional writes can implement it.
package protocol RecordStore: Sendable {
    func record(_ key: RecordKey) async throws(RecordError) -> Record?
    /// The records of a range within its limits, at least one if there is any.
    func records(_ range: RecordRange) async throws(RecordError) -> [Record]
    /// The number of records of a collection whose names begin with `prefix`.
    func count(_ collection: String, prefix: String) async throws(RecordError) -> Int
    /// - Throws: `conflict` with the first key whose record is not as expected. Then nothing was changed.
    func commit(_ changes: [RecordChange]) async throws(RecordError)
}
