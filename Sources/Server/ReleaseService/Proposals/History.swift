package import PatchFormat
package import ServerRecords

extension ReleaseOperations {
    /// Releases of a channel, newest first.
    ///
    /// - Parameters:
    ///   - version: only those below it.
    ///   - bytes: of records that are read, unless one alone has more.
    /// - Returns: the releases, and the version below which the next page begins; nil on the last one.
    package func history(
        of channel: ChannelName,
        in app: AppID,
        below version: Int?,
        limit: Int,
        bytes: Int = .max
    ) async throws(OperationError) -> (entries: [HistoryEntry], next: Int?) {
        try await reading { () async throws(RecordError) in
            let page = try await records.page(
                RecordRange(
                    HistoryEntry.collection,
                    prefix: HistoryEntry.prefix(app, channel),
                    after: version.map { HistoryEntry.name(app, channel, below: $0) },
                    order: .descending,
                    limit: limit,
                    bytes: bytes
                )
            )
            var entries: [HistoryEntry] = []
            for record in page.records { entries.append(try HistoryEntry(record)) }
            return (entries, page.hasMore ? entries.last?.roleVersion : nil)
        }
    }

    /// Changes what people say of a release that was published.
    package func edit(
        _ edit: NotesEdit,
        of version: Int,
        in channel: ChannelName,
        of app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> HistoryEntry {
        let found = try await reading { () async throws(RecordError) in
            let range = RecordRange(
                HistoryEntry.collection,
                prefix: HistoryEntry.name(app, channel, below: version) + "/",
                order: .descending,
                limit: 1
            )
            return try await records.store.records(range).first
        }
        guard let found else { throw .noRelease(channel, version: version) }
        return try await reading { () async throws(RecordError) in
            let before = try HistoryEntry(found)
            let after = before.with(edit.applied(to: before.notes))
            guard after != before else { return before }
            try await records.commit(
                [.replace(found, with: after.json)],
                noting: AuditEntry.Event(
                    "history.edit",
                    by: actor,
                    app: app,
                    channel: channel,
                    before: before.said,
                    after: after.said
                )
            )
            return after
        }
    }
}

extension HistoryEntry {
    /// What may be edited of it, for the audit log.
    fileprivate var said: JSON {
        .fields([
            ("roleVersion", .integer(roleVersion)), ("identity", .text(identity.hex)),
            ("label", notes.label.map { .text($0) }), ("notes", notes.notes.map { .text($0) }),
        ])
    }
}
