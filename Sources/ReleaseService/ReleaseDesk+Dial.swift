package import PatchFormat
package import PatchServer
package import ServerRecords

extension ReleaseDesk {
    /// Turns a channel's dial, which devices see at once, and writes down who did.
    package func turn(
        _ changes: [DialChange],
        in channel: ChannelName,
        of app: AppID,
        expecting version: Int?,
        by actor: Actor
    ) async throws(DeskError) -> DialOutcome {
        let now = records.now()
        let (before, outcome) = try await changing(app) { (repository, key) throws(ServerError) in
            let before = try repository.dial(of: channel)
            return (before, try repository.turn(changes, in: channel, expecting: version, signing: key, at: now))
        }
        let counted = outcome.with(try await counting(outcome.state))
        guard case .turned = outcome else { return counted }
        try await reading { () async throws(RecordError) in
            try await records.commit(
                [],
                noting: AuditEntry.Event(
                    "dial.turn",
                    by: actor,
                    app: app,
                    channel: channel,
                    before: before.json,
                    after: outcome.state.json
                )
            )
        }
        return counted
    }
}
