package import PatchFormat
package import PatchServer
import PatchStore
import PatchTrust
package import ReleaseFolder
package import ServerRecords

extension ReleaseDesk {
    /// Starts an app, and writes down who did; see ``AppRepository/create(_:onlineKey:in:files:allowsTestingKeys:at:)``.
    package func create(
        _ trust: RootOfTrust,
        onlineKey key: OnlineKey,
        by actor: Actor
    ) async throws(DeskError) {
        let now = records.now()
        _ = try await change(Intent(.create, of: trust.app, by: actor)) { () throws(DeskError) in
            do throws(ServerError) {
                return try AppRepository.create(
                    trust,
                    onlineKey: key,
                    in: folder,
                    files: files,
                    allowsTestingKeys: allowsTestingKeys,
                    at: now
                ).trustSummary()
            } catch { throw .server(error) }
        } remembering: { (summary, intent) throws(RecordError) in
            Remembered(event: intent.event(after: summary))
        }
    }

    /// Takes in a newer root of trust with the releases that it needs, and writes down who did; see
    /// ``AppRepository/take(_:onlineKey:releases:carryingOver:at:)``.
    ///
    /// Each release that was published has its place in the history.
    package func take(
        _ offered: OfferedTrust,
        of app: AppID,
        onlineKey key: OnlineKey,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = [],
        by actor: Actor
    ) async throws(DeskError) -> TrustOutcome {
        let now = records.now()
        let entries = releases.map { HistoryEntry($0, notes: ReleaseNotes(), by: actor, at: now) }
        let intent = Intent(.takeTrust, of: app, by: actor, publishing: entries)
        let done = try await change(intent) { () throws(DeskError) in
            try serving(app) { (repository) throws(ServerError) in
                let outcome = try repository.take(
                    offered,
                    onlineKey: key,
                    releases: releases,
                    carryingOver: accepted,
                    at: now
                )
                return (outcome: outcome, traces: try Traces(of: intent, in: repository))
            }
        } remembering: { (done, intent) async throws(RecordError) in
            Remembered(
                changes: try await history(of: done.traces.published),
                event: Self.event(of: intent, done.outcome, done.traces)
            )
        }
        return done.outcome
    }

    private static func event(of intent: Intent, _ outcome: TrustOutcome, _ traces: Traces) -> AuditEntry.Event? {
        switch outcome {
        case .updated(let done):
            let published = done.published.map { JSON.text("\($0)") }
            return intent.event(after: traces.standing.adding([("published", .array(published))]))
        case .alreadyCurrent(_, _, let change):
            // Perhaps an earlier call was stopped when all but this was done.
            if let event = traces.event(of: intent, new: []) { return event }
            guard change.files > 0 else { return nil }
            return intent.event("trust.repair", after: .fields([("filesWritten", .integer(change.files))]))
        }
    }
}
