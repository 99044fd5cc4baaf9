package import PatchFormat
package import PatchServer
package import ServerRecords

extension ReleaseOperations {
    /// Turns a channel's dial, which devices see at once, and writes down who did.
    ///
    /// A share that is set, a pause and a new schedule end the schedule that a version had.
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
                try TurnDial(changes, in: channel, of: repository, expecting: version, signing: key, at: now).run()
            }
        } remembering: { (outcome, intent) async throws(OperationError) in
            let rollouts = Rollouts(self)
            let (schedules, written) = try await reading { () async throws(RecordError) in
                let schedules = try await rollouts.edited(by: changes, outcome.state, by: actor, at: now)
                return (schedules, try await rollouts.writing(schedules))
            }
            if case .unchanged = outcome, schedules.isEmpty { return RecordedOutcome() }
            let told: JSON? = schedules.isEmpty ? nil : .array(schedules.map(\.audited))
            return RecordedOutcome(
                changes: written,
                event: intent.event(after: outcome.state.json.adding([("schedules", told)]))
            )
        }
        return outcome.with(try await counting(outcome.state))
    }
}
