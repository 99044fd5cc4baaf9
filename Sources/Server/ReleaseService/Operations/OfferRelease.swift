package import PatchFormat
package import PatchServer
import PatchTrust
package import ReleaseFolder
package import ServerRecords

/// Verifies a release and publishes it, or stores it as a draft, with its history and audit entry.
package struct OfferRelease: Sendable {
    private let operations: ReleaseOperations
    private let release: SignedRelease
    private let notes: ReleaseNotes
    private let wish: StartingRollout?
    private let actor: Actor

    /// - Parameter wish: How its new versions begin; else the draft's and then the channel's default applies.
    package init(
        _ release: SignedRelease,
        notes: ReleaseNotes,
        starting wish: StartingRollout? = nil,
        by actor: Actor,
        _ operations: ReleaseOperations
    ) {
        (self.release, self.notes, self.wish) = (release, notes, wish)
        (self.actor, self.operations) = (actor, operations)
    }

    package func run() async throws(OperationError) -> PublishOutcome {
        let now = operations.records.now()
        operations.publishing.begin()
        defer { operations.publishing.end() }
        // Before the lock: a release without a quorum may take long to read, and one with a quorum to compress.
        let verified = try await verified()
        let beginning = try await Rollouts(operations).beginning(of: verified, by: wish)
        // Outside the app's turn at reading: another channel's release must not wait for it.
        let forms: CompressedForms
        do throws(ServerError) {
            forms = try await CompressForms(of: verified, in: operations.repository(app), operations.forms).run()
        } catch { throw .server(error) }
        defer { forms.discard(operations.files) }
        let entry = HistoryEntry(release, notes: notes, started: beginning.started, by: actor, at: now)
        let intent = Intent(.publish(release.header.channel), of: app, by: actor, publishing: [entry])
        return try await RecordedChange(intent, by: operations) { () throws(OperationError) in
            try operations.signing(app) { (repository, key) throws(ServerError) in
                let publishing = PublishRelease(
                    release,
                    in: repository,
                    verified: verified,
                    compressed: forms,
                    rollout: beginning.rollout,
                    signing: key,
                    at: now
                )
                return try publishing.run().withoutUnusedForms(of: repository, at: now)
            }
        } remembering: { (outcome, intent) async throws(OperationError) in
            try await recorded(outcome, entry, intent)
        }.run()
    }

    private var app: AppID { release.header.app }

    private func verified() async throws(OperationError) -> VerifiedRelease {
        try await operations.reading(documentsOf: app) { () throws(OperationError) in
            try operations.serving(app) { (repository) throws(ServerError) in
                try VerifyRelease(release, in: repository).run()
            }
        }
    }

    private func recorded(
        _ outcome: PublishOutcome,
        _ entry: HistoryEntry,
        _ intent: Intent
    ) async throws(OperationError) -> RecordedOutcome {
        let after = entry.audited(recovered: false)
        switch outcome {
        case .published:
            let history = History(operations)
            let changes = try await operations.reading { () async throws(RecordError) in
                try await history.changes(publishing: [entry])
            }
            let versions = await history.difference(of: entry)?.audited ?? []
            return RecordedOutcome(changes: changes, event: intent.event(after: after.adding(versions)))
        case .drafted(_, _, let quorum):
            let counts: [(String, JSON?)] = [
                ("signatures", .integer(quorum.valid)), ("threshold", .integer(quorum.needed)),
            ]
            return RecordedOutcome(event: intent.event("release.draft", after: after.adding(counts)))
        case .alreadyPublished(_, _, let change):
            guard change.files > 0 else { return RecordedOutcome() }
            let written = after.adding([("filesWritten", .integer(change.files))])
            return RecordedOutcome(event: intent.event("release.repair", after: written))
        }
    }
}

extension PublishOutcome {
    /// After a fast publish, which made no packs: removes those that devices no longer need.
    fileprivate func withoutUnusedForms(of repository: AppRepository, at now: UTCTime) -> PublishOutcome {
        guard case .published(var done) = self, done.awaitsForms else { return self }
        // The release is published: if this fails, a later call removes them.
        done.removedForms = (try? RemoveUnusedForms(in: repository, packsAlone: true, at: now).run()) ?? .nothing
        return .published(done)
    }
}
