package import PatchFormat
package import PatchServer
import ReleaseTree
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
        return try await self.change(Intent(.changeParameters(channel), of: app, by: actor)) { () throws(DeskError) in
            try signing(app) { (repository, key) throws(ServerError) in
                try repository.change(change, in: channel, expecting: tag, signing: key, at: now)
            }
        } remembering: { (outcome, intent) throws(DeskError) in
            guard case .changed(_, let after, _) = outcome else { return Remembered() }
            return Remembered(event: intent.event(after: after.json))
        }
    }
}
