package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
package import ReleaseFolder
package import ServerRecords

/// Accepts a newer root of trust with the releases that it needs, and records the operator; see ``TakeTrust``.
///
/// Each published release is added to the history.
package struct FollowTrust: Sendable {
    private let operations: ReleaseOperations
    private let offered: TrustUpload
    private let app: AppID
    private let releases: [SignedRelease]
    private let accepted: Set<ChannelName>
    private let actor: Actor

    package init(
        to offered: TrustUpload,
        of app: AppID,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = [],
        by actor: Actor,
        _ operations: ReleaseOperations
    ) {
        (self.offered, self.app, self.releases) = (offered, app, releases)
        (self.accepted, self.actor, self.operations) = (accepted, actor, operations)
    }

    /// - Parameter file: nil for the server's present online key.
    package func run(onlineKeyFile file: [UInt8]?) async throws(OperationError) -> TrustOutcome {
        guard let file else {
            let key = try await operations.onThread { () throws(OperationError) in
                try operations.key(of: try operations.known(app))
            }
            return try await run(onlineKey: key)
        }
        // Opening a key is slow, so the root of trust is checked first.
        let now = operations.records.now()
        try await operations.looking(app) { (repository) throws(ServerError) in
            _ = try OfferedTrust(offered, to: repository, at: now)
        }
        return try await run(onlineKey: try await operations.uploadedKey(file, for: app))
    }

    package func run(onlineKey key: OnlineKey) async throws(OperationError) -> TrustOutcome {
        let now = operations.records.now()
        let entries = releases.map { HistoryEntry($0, notes: ReleaseNotes(), by: actor, at: now) }
        let intent = Intent(.takeTrust, of: app, by: actor, publishing: entries)
        return try await RecordedChange(intent, by: operations) { () throws(OperationError) in
            try operations.serving(app) { (repository) throws(ServerError) in
                try TakeTrust(
                    offered,
                    in: repository,
                    onlineKey: key,
                    releases: releases,
                    carryingOver: accepted,
                    at: now
                ).run()
            }
        } remembering: { (outcome, intent) async throws(OperationError) in
            let evidence = try await operations.looking(app) { (repository) throws(ServerError) in
                try IntentEvidence(of: intent, in: repository)
            }
            return RecordedOutcome(
                changes: try await operations.reading { () async throws(RecordError) in
                    try await History(operations).changes(publishing: evidence.published)
                },
                event: Self.event(of: intent, outcome, evidence)
            )
        }.run()
    }

    private static func event(of intent: Intent, _ outcome: TrustOutcome, _ evidence: IntentEvidence) -> AuditEntry
        .Event?
    {
        switch outcome {
        case .updated(let done):
            let published = done.published.map { JSON.text("\($0)") }
            return intent.event(after: evidence.state.adding([("published", .array(published))]))
        case .alreadyCurrent(_, _, let change):
            // An earlier call may have been interrupted just before this step.
            if let event = evidence.event(of: intent, new: []) { return event }
            guard change.files > 0 else { return nil }
            return intent.event("trust.repair", after: .fields([("filesWritten", .integer(change.files))]))
        }
    }
}
