package import PatchFormat
package import PatchServer
package import ServerRecords

extension ReleaseOperations {
    /// Changes a channel's online parameters, which devices see within their interval, and writes down who did.
    package func change(
        _ change: ParametersChange,
        in channel: ChannelName,
        of app: AppID,
        expecting tag: SHA256Digest?,
        by actor: Actor
    ) async throws(OperationError) -> ParametersOutcome {
        let now = records.now()
        return try await self.change(Intent(.changeParameters(channel), of: app, by: actor)) {
            () throws(OperationError) in
            try signing(app) { (repository, key) throws(ServerError) in
                try SetParameters(change, in: channel, of: repository, expecting: tag, signing: key, at: now).run()
            }
        } remembering: { (outcome, intent) throws(OperationError) in
            guard case .changed(_, let after, _) = outcome else { return RecordedOutcome() }
            return RecordedOutcome(event: intent.event(after: after.json))
        }
    }
}
