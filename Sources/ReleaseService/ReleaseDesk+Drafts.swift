package import PatchFormat
import PatchServer
package import ServerRecords

extension ReleaseDesk {
    /// Gives a draft up, also one that cannot be read; it was never served.
    ///
    /// - Returns: whether there was one.
    package func removeDraft(
        of channel: ChannelName,
        version: Int,
        in app: AppID,
        by actor: Actor
    ) async throws(DeskError) -> Bool {
        let intent = Intent(.removeDraft(channel, version: version), of: app, by: actor)
        return try await change(intent) { () throws(DeskError) in
            try serving(app) { (repository) throws(ServerError) in
                guard try repository.hasDraft(of: channel, version: version) else { return false }
                try repository.removeDraft(of: channel, version: version)
                return true
            }
        } remembering: { (isGone, intent) throws(RecordError) in
            Remembered(event: isGone ? intent.event(after: .null) : nil)
        }
    }
}
