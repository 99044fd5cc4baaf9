package import PatchFormat

/// The server's records.
///
/// Each change and its audit entry are one commit.
package struct ServerRecords: Sendable {
    package static let auditEntriesAtATime = 500
    /// The size in bytes of records that are read at a time.
    ///
    /// A single larger record is read alone.
    package static let pageBytes = 1_000_000

    package let store: any RecordStore
    package let now: @Sendable () -> UTCTime

    package init(_ store: any RecordStore, now: @escaping @Sendable () -> UTCTime) {
        self.store = store
        self.now = now
    }

    /// Commits the changes and their audit entry atomically.
    ///
    /// - Throws: `conflict` for one of `changes`. If another process took the audit log's next number, the commit is retried.
    package func commit(_ changes: [RecordChange], noting event: AuditEntry.Event) async throws(RecordError) {
        while true {
            let last = try await lastAuditEntry()
            guard last?.number != AuditEntry.largestNumber else {
                throw .malformed(AuditEntry.key(AuditEntry.largestNumber), rule: "is the last that a log can have")
            }
            let entry = AuditEntry(event, after: last, at: now())
            do throws(RecordError) {
                return try await store.commit(changes + [.insert(entry.key, entry.json)])
            } catch .conflict(let key) where key == entry.key {
                continue
            }
        }
    }

    /// The time for checking expiry: the clock, or the newest entry of the audit log if the clock is behind it.
    ///
    /// Setting the clock back therefore does not make expired tokens valid again.
    package func referenceTime() async throws(RecordError) -> UTCTime {
        let time = now()
        return max(time, try await lastAuditEntry()?.earliest ?? time)
    }

    /// Trusts the clock again after it had been ahead.
    ///
    /// - Returns: The time according to the log.
    package func acceptClock(by actor: Actor) async throws(RecordError) -> UTCTime {
        let (time, reference) = (now(), try await referenceTime())
        guard reference > time else { return reference }
        try await commit(
            [],
            noting: AuditEntry.Event(
                AuditEntry.Event.clockAccepted,
                by: actor,
                before: .fields([("time", .text(reference.description))]),
                after: .fields([("time", .text(time.description))])
            )
        )
        return reference
    }

    package func lastAuditEntry() async throws(RecordError) -> AuditEntry? {
        let range = RecordRange(AuditEntry.collection, order: .descending, limit: 1)
        guard let record = try await store.records(range).first else { return nil }
        let entry = try AuditEntry(record.value, key: record.key)
        // Otherwise the key of the next entry could exist already, and every attempt would fail.
        guard entry.key == record.key else {
            throw .malformed(record.key, rule: "holds entry \(entry.number) of the audit log")
        }
        return entry
    }

    /// The part of a range that fits into a response.
    package func page(_ range: RecordRange) async throws(RecordError) -> RecordPage {
        let records = try await store.records(range)
        guard let last = records.last else { return RecordPage(records: [], hasMore: false) }
        return RecordPage(records: records, hasMore: try await !store.records(range.beyond(last)).isEmpty)
    }

    /// The entries after a number, at most ``pageBytes``.
    ///
    /// There may be more even if fewer than `limit` are returned.
    ///
    /// - Parameter number: The number of the entry before the first, 0 for the first page.
    package func auditEntries(after number: Int, limit: Int = auditEntriesAtATime) async throws(RecordError)
        -> [AuditEntry]
    {
        try await auditPage(after: number, limit: limit).entries
    }

    /// - Returns: The entries, and the number after which the next page begins, or nil on the last page.
    package func auditPage(
        after number: Int,
        limit: Int
    ) async throws(RecordError) -> (entries: [AuditEntry], next: Int?) {
        let page = try await auditRecords(after: AuditEntry.key(number).name, limit: limit)
        var entries: [AuditEntry] = []
        for record in page.records { entries.append(try AuditEntry(record.value, key: record.key)) }
        // Uses the keys, because contents may have been edited.
        return (entries, page.hasMore ? page.records.last.flatMap { Int($0.key.name) } : nil)
    }

    private func auditRecords(after name: String, limit: Int) async throws(RecordError) -> RecordPage {
        try await page(RecordRange(AuditEntry.collection, after: name, limit: limit, bytes: Self.pageBytes))
    }

    /// Verifies the whole log.
    package func auditChain(mustHold head: String? = nil) async throws(RecordError) -> AuditChain {
        var chain = AuditChain(mustHold: head)
        var last: String? = AuditEntry.key(0).name
        while let name = last {
            let page = try await auditRecords(after: name, limit: Self.auditEntriesAtATime)
            for record in page.records { chain.take(try AuditEntry(record.value, key: record.key)) }
            last = page.hasMore ? page.records.last?.key.name : nil
        }
        chain.finish()
        return chain
    }
}
