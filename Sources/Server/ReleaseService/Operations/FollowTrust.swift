package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
package import PatchTrust
import SystemPackage
package import ReleaseFolder
package import ServerRecords

extension ReleaseOperations {
    /// Starts an app, and writes down who did; see ``CreateApp``.
    package func create(
        _ trust: RootOfTrust,
        onlineKey key: OnlineKey,
        by actor: Actor
    ) async throws(OperationError) {
        let now = records.now()
        _ = try await change(Intent(.create, of: trust.app, by: actor)) { () throws(OperationError) in
            do throws(ServerError) {
                return try CreateApp(
                    trust,
                    onlineKey: key,
                    in: folder,
                    files: files,
                    allowsTestingKeys: allowsTestingKeys
                ).run(at: now).trustSummary()
            } catch { throw .server(error) }
        } remembering: { (summary, intent) throws(OperationError) in
            RecordedOutcome(event: intent.event(after: summary))
        }
    }

    /// The same with a key that came from elsewhere: the passphrase that this server has must open it.
    package func create(_ trust: RootOfTrust, onlineKey file: [UInt8], by actor: Actor) async throws(OperationError) {
        let key = try await brought(file, for: trust.app)
        try await create(trust, onlineKey: key, by: actor)
    }

    /// - Parameter file: nil for the online key that the server has.
    package func take(
        _ offered: TrustUpload,
        of app: AppID,
        onlineKey file: [UInt8]?,
        carryingOver accepted: Set<ChannelName>,
        by actor: Actor
    ) async throws(OperationError) -> TrustOutcome {
        let key: OnlineKey
        if let file {
            // Opening a key is work; nobody has it done who brings no trust that is to be followed.
            let now = records.now()
            try await looking(app) { (repository) throws(ServerError) in
                _ = try OfferedTrust(offered, to: repository, at: now)
            }
            key = try await brought(file, for: app)
        } else {
            key = try await onThread { () throws(OperationError) in try self.key(of: try repository(known: app)) }
        }
        return try await take(offered, of: app, onlineKey: key, carryingOver: accepted, by: actor)
    }

    /// A private key is kept as it came, so it must have come encrypted.
    package static var clearKey: String {
        "the online key is not encrypted: whoever reads the server's disk would have it"
    }

    private func brought(_ file: [UInt8], for app: AppID) async throws(OperationError) -> OnlineKey {
        try await reading(documentsOf: app) { () throws(OperationError) in
            let key: OnlineKey
            do throws(OperationError) { key = try self.key(file, from: "online.key") } catch {
                switch error {
                case .keyUnusable(let why): throw .keyRefused(why)
                case .server(let error): throw .keyRefused("\(error)")
                default: throw error
                }
            }
            guard key.isEncrypted else {
                throw .keyRefused(Self.clearKey)
            }
            return key
        }
    }

    private func repository(known app: AppID) throws(OperationError) -> AppRepository {
        do throws(ServerError) { return try repository(app) } catch { throw .server(error) }
    }

    /// Takes in a newer root of trust with the releases that it needs, and writes down who did; see
    /// ``TakeTrust``.
    ///
    /// Each release that was published has its place in the history.
    package func take(
        _ offered: TrustUpload,
        of app: AppID,
        onlineKey key: OnlineKey,
        releases: [SignedRelease] = [],
        carryingOver accepted: Set<ChannelName> = [],
        by actor: Actor
    ) async throws(OperationError) -> TrustOutcome {
        let now = records.now()
        let entries = releases.map { HistoryEntry($0, notes: ReleaseNotes(), by: actor, at: now) }
        let intent = Intent(.takeTrust, of: app, by: actor, publishing: entries)
        return try await change(intent) { () throws(OperationError) in
            try serving(app) { (repository) throws(ServerError) in
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
            let evidence = try await looking(app) { (repository) throws(ServerError) in
                try IntentEvidence(of: intent, in: repository)
            }
            return RecordedOutcome(
                changes: try await reading { () async throws(RecordError) in try await history(of: evidence.published)
                },
                event: Self.event(of: intent, outcome, evidence)
            )
        }
    }

    private static func event(of intent: Intent, _ outcome: TrustOutcome, _ evidence: IntentEvidence) -> AuditEntry
        .Event?
    {
        switch outcome {
        case .updated(let done):
            let published = done.published.map { JSON.text("\($0)") }
            return intent.event(after: evidence.state.adding([("published", .array(published))]))
        case .alreadyCurrent(_, _, let change):
            // Perhaps an earlier call was stopped when all but this was done.
            if let event = evidence.event(of: intent, new: []) { return event }
            guard change.files > 0 else { return nil }
            return intent.event("trust.repair", after: .fields([("filesWritten", .integer(change.files))]))
        }
    }
}
