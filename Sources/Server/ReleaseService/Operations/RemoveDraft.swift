package import PatchFormat
import PatchServer
package import ServerRecords

/// Discards a draft, even an unreadable one; it was never served.
package struct RemoveDraft: Sendable {
    private let operations: ReleaseOperations
    private let channel: ChannelName
    private let version: Int
    private let app: AppID
    private let actor: Actor

    package init(
        of channel: ChannelName,
        version: Int,
        in app: AppID,
        by actor: Actor,
        _ operations: ReleaseOperations
    ) {
        (self.channel, self.version, self.app) = (channel, version, app)
        (self.actor, self.operations) = (actor, operations)
    }

    /// - Returns: whether there was one.
    package func run() async throws(OperationError) -> Bool {
        let intent = Intent(.removeDraft(channel, version: version), of: app, by: actor)
        return try await RecordedChange(intent, by: operations) { () throws(OperationError) in
            try operations.serving(app) { (repository) throws(ServerError) in
                guard try repository.tree.hasDraft(of: channel, version: version) else { return false }
                try repository.tree.removeDraft(of: channel, version: version)
                return true
            }
        } remembering: { (isRemoved, intent) throws(OperationError) in
            RecordedOutcome(event: isRemoved ? intent.event(after: .null) : nil)
        }.run()
    }
}
