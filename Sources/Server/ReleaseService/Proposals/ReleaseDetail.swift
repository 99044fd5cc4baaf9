package import PatchFormat
package import PatchServer

/// One release as people read it back: its history entry, its sizes, and its difference to the release before.
package struct ReleaseDetail: Equatable, Sendable {
    package let entry: HistoryEntry
    /// Nil for the first release that the history knows.
    package let before: HistoryEntry?
    /// Of versions whose files the tree still has.
    package let sizes: [Label: VersionSize]

    package init(entry: HistoryEntry, before: HistoryEntry?, sizes: [Label: VersionSize]) {
        (self.entry, self.before, self.sizes) = (entry, before, sizes)
    }

    package var difference: HistoryDifference { HistoryDifference(from: before, to: entry) }

    package var json: JSON {
        let patches = entry.patches.map { patch in
            let size = sizes[patch.label]
            return patch.json.adding([
                ("size", (size?.bytes).map { .integer($0) }), ("files", (size?.files).map { .integer($0) }),
            ])
        }
        return entry.json.adding([
            ("patches", .array(patches)), ("previous", (before?.roleVersion).map { .integer($0) }),
            ("difference", difference.json),
        ])
    }
}

extension ReleaseOperations {
    /// Returns a published release with its changes.
    package func release(
        _ version: Int,
        of channel: ChannelName,
        in app: AppID
    ) async throws(OperationError) -> ReleaseDetail {
        guard let entry = try await history(of: channel, in: app, below: version + 1, limit: 1).entries.first,
            entry.roleVersion == version
        else { throw .noRelease(channel, version: version) }
        let before = try await history(of: channel, in: app, below: version, limit: 1).entries.first
        let sizes = try await looking(app) { (repository) throws(ServerError) in
            try VersionSize.all(of: channel, version: version, in: repository)
        }
        return ReleaseDetail(entry: entry, before: before, sizes: sizes)
    }

    /// The difference of a release to the one that was current before; nil where the history does not know that one.
    func difference(of entry: HistoryEntry) async -> HistoryDifference? {
        let version = entry.roleVersion
        guard let page = try? await history(of: entry.channel, in: entry.app, below: version, limit: 1) else {
            return nil
        }
        return HistoryDifference(from: page.entries.first, to: entry)
    }
}
