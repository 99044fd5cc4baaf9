package import PatchFormat
import PatchServer
package import ServerRecords

/// The published releases, with their notes.
package struct History: Sendable {
    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    /// Releases of a channel, newest first.
    ///
    /// - Parameters:
    ///   - version: only those below it.
    ///   - bytes: the limit of the records to read, unless the first alone exceeds it.
    /// - Returns: the releases, and the version below which the next page begins; nil on the last one.
    package func page(
        of channel: ChannelName,
        in app: AppID,
        below version: Int?,
        limit: Int,
        bytes: Int = .max
    ) async throws(OperationError) -> (entries: [HistoryEntry], next: Int?) {
        try await operations.reading { () async throws(RecordError) in
            let page = try await operations.records.page(
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

    /// Changes the label or notes of a published release.
    package func edit(
        _ edit: NotesEdit,
        of version: Int,
        in channel: ChannelName,
        of app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> HistoryEntry {
        let found = try await operations.reading { () async throws(RecordError) in
            let range = RecordRange(
                HistoryEntry.collection,
                prefix: HistoryEntry.name(app, channel, below: version) + "/",
                order: .descending,
                limit: 1
            )
            return try await operations.records.store.records(range).first
        }
        guard let found else { throw .noRelease(channel, version: version) }
        return try await operations.reading { () async throws(RecordError) in
            let before = try HistoryEntry(found)
            let after = before.with(edit.applied(to: before.notes))
            guard after != before else { return before }
            try await operations.records.commit(
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

    /// Returns a published release with its changes.
    package func release(
        _ version: Int,
        of channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) -> ReleaseDetail {
        guard let entry = try await page(of: channel, in: app, below: version + 1, limit: 1).entries.first,
            entry.roleVersion == version
        else { throw .noRelease(channel, version: version) }
        let before = try await page(of: channel, in: app, below: version, limit: 1).entries.first
        let sizes = try await operations.looking(app) { (repository) throws(ServerError) in
            try VersionSize.all(of: channel, version: version, in: repository)
        }
        return ReleaseDetail(entry: entry, before: before, sizes: sizes)
    }

    /// The difference of a release to the previous one in the history; nil if the history cannot be read.
    func difference(of entry: HistoryEntry) async -> HistoryDifference? {
        let version = entry.roleVersion
        guard let page = try? await self.page(of: entry.channel, in: entry.app, below: version, limit: 1) else {
            return nil
        }
        return HistoryDifference(from: page.entries.first, to: entry)
    }

    /// The records of published releases that the history lacks, with their rollout schedules and the proposals that they end.
    func changes(publishing entries: [HistoryEntry]) async throws(RecordError) -> [RecordChange] {
        var changes: [RecordChange] = []
        for entry in entries where try await operations.records.store.record(entry.key) == nil {
            changes.append(.insert(entry.key, entry.json))
            changes += try await Rollouts(operations).writing(Rollouts.beginning(with: entry))
            changes += try await Proposals(operations).ending(entry)
        }
        return changes
    }
}

extension HistoryEntry {
    /// The editable notes, for the audit log.
    fileprivate var said: JSON {
        .fields([
            ("roleVersion", .integer(roleVersion)), ("identity", .text(identity.hex)),
            ("label", notes.label.map { .text($0) }), ("notes", notes.notes.map { .text($0) }),
        ])
    }
}
