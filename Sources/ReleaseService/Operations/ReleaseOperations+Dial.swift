package import PatchFormat
package import PatchServer
import ReleaseTree
package import ServerRecords

extension ReleaseOperations {
    /// Turns a channel's dial, which devices see at once, and writes down who did.
    package func turn(
        _ changes: [DialChange],
        in channel: ChannelName,
        of app: AppID,
        expecting version: Int?,
        by actor: Actor
    ) async throws(OperationError) -> DialOutcome {
        let now = records.now()
        let outcome = try await change(Intent(.turnDial(channel), of: app, by: actor)) { () throws(OperationError) in
            try signing(app) { (repository, key) throws(ServerError) in
                try repository.turn(changes, in: channel, expecting: version, signing: key, at: now)
            }
        } remembering: { (outcome, intent) throws(OperationError) in
            guard case .turned(let state, _) = outcome else { return RecordedOutcome() }
            return RecordedOutcome(event: intent.event(after: state.json))
        }
        return outcome.with(try await counting(outcome.state))
    }
}
