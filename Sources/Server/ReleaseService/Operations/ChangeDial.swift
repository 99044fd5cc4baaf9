package import PatchFormat
package import PatchServer
package import ServerRecords

/// Changes a channel's dial, which devices see at once, and records the operator; see ``TurnDial``.
///
/// A new share, a pause and a new schedule end the version's previous schedule.
package struct ChangeDial: Sendable {
    private let operations: ReleaseOperations
    private let changes: [DialChange]
    private let channel: ChannelName
    private let app: AppID
    private let version: Int?
    private let actor: Actor

    /// - Parameter version: that of the dial role that the operator saw; any other is rejected.
    package init(
        _ changes: [DialChange],
        in channel: ChannelName,
        of app: AppID,
        expecting version: Int?,
        by actor: Actor,
        _ operations: ReleaseOperations
    ) {
        (self.changes, self.channel, self.app) = (changes, channel, app)
        (self.version, self.actor, self.operations) = (version, actor, operations)
    }

    package func run() async throws(OperationError) -> DialOutcome {
        let now = operations.records.now()
        let intent = Intent(.turnDial(channel), of: app, by: actor)
        let outcome = try await RecordedChange(intent, by: operations) { () throws(OperationError) in
            try operations.signing(app) { (repository, key) throws(ServerError) in
                try TurnDial(changes, in: channel, of: repository, expecting: version, signing: key, at: now).run()
            }
        } remembering: { (outcome, intent) async throws(OperationError) in
            try await recorded(outcome, intent, at: now)
        }.run()
        return outcome.with(try await operations.counting(outcome.state))
    }

    private func recorded(
        _ outcome: DialOutcome,
        _ intent: Intent,
        at now: UTCTime
    ) async throws(OperationError) -> RecordedOutcome {
        let rollouts = Rollouts(operations)
        let (schedules, written) = try await operations.reading { () async throws(RecordError) in
            let schedules = try await rollouts.edited(by: changes, outcome.state, by: actor, at: now)
            return (schedules, try await rollouts.writing(schedules))
        }
        if case .unchanged = outcome, schedules.isEmpty { return RecordedOutcome() }
        let schedulesJSON: JSON? = schedules.isEmpty ? nil : .array(schedules.map(\.audited))
        return RecordedOutcome(
            changes: written,
            event: intent.event(after: outcome.state.json.adding([("schedules", schedulesJSON)]))
        )
    }
}
