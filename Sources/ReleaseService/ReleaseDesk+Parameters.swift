package import PatchFormat
package import PatchServer
package import ServerRecords

extension ReleaseDesk {
    /// Changes a channel's online parameters, which devices see within their interval, and writes down who did.
    package func change(
        _ change: ParametersChange,
        in channel: ChannelName,
        of app: AppID,
        expecting tag: SHA256Digest?,
        by actor: Actor
    ) async throws(DeskError) -> ParametersOutcome {
        let now = records.now()
        let outcome = try await changing(app) { (repository, key) throws(ServerError) in
            try repository.change(change, in: channel, expecting: tag, signing: key, at: now)
        }
        guard case .changed(let before, let after, _) = outcome else { return outcome }
        try await reading { () async throws(RecordError) in
            try await records.commit(
                [],
                noting: AuditEntry.Event(
                    "parameters.change",
                    by: actor,
                    app: app,
                    channel: channel,
                    before: before?.json ?? .null,
                    after: after.json
                )
            )
        }
        return outcome
    }
}
