package import PatchFormat
package import PatchServer
package import ServerRecords

/// Changes a channel's online parameters, which devices see within their interval, and records the operator; see ``SetParameters``.
package struct ChangeParameters: Sendable {
    private let operations: ReleaseOperations
    private let change: ParametersChange
    private let channel: ChannelName
    private let app: AppID
    private let tag: SHA256Digest?
    private let actor: Actor

    /// - Parameter tag: that of the parameters that the operator saw; any other is rejected.
    package init(
        _ change: ParametersChange,
        in channel: ChannelName,
        of app: AppID,
        expecting tag: SHA256Digest?,
        by actor: Actor,
        _ operations: ReleaseOperations
    ) {
        (self.change, self.channel, self.app) = (change, channel, app)
        (self.tag, self.actor, self.operations) = (tag, actor, operations)
    }

    package func run() async throws(OperationError) -> ParametersOutcome {
        let now = operations.records.now()
        let intent = Intent(.changeParameters(channel), of: app, by: actor)
        return try await RecordedChange(intent, by: operations) { () throws(OperationError) in
            try operations.signing(app) { (repository, key) throws(ServerError) in
                try SetParameters(change, in: channel, of: repository, expecting: tag, signing: key, at: now).run()
            }
        } remembering: { (outcome, intent) throws(OperationError) in
            guard case .changed(_, let after, _) = outcome else { return RecordedOutcome() }
            return RecordedOutcome(event: intent.event(after: after.json))
        }.run()
    }
}
