package import PatchFormat
import PatchServer
package import ServerRecords

extension ReleaseDesk {
    /// Gives a draft up; it was never served.
    ///
    /// - Returns: whether there was one.
    package func removeDraft(
        of channel: ChannelName,
        version: Int,
        in app: AppID,
        by actor: Actor
    ) async throws(DeskError) -> Bool {
        let removed = try await changing(app) { (repository, _) throws(ServerError) in
            guard let draft = try repository.draft(of: channel, version: version) else { return nil as SHA256Digest? }
            try repository.removeDraft(of: channel, version: version)
            return draft.identity
        }
        guard let removed else { return false }
        try await reading { () async throws(RecordError) in
            try await records.commit(
                [],
                noting: AuditEntry.Event(
                    "draft.remove",
                    by: actor,
                    app: app,
                    channel: channel,
                    before: .fields([("roleVersion", .integer(version)), ("identity", .text(removed.hex))])
                )
            )
        }
        return true
    }
}
