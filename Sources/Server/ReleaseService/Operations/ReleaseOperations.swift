package import NIOPosix
package import PatchFormat
package import PatchServer
package import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
package import ServerRecords
package import SystemPackage

/// Carries out the changes that operators ask for, and keeps history and audit log in step with the published tree.
///
/// The tree and the records are two places, and a process can die between them. An intent is written before the tree is
/// touched, and replaced by history and audit entry in one commit afterwards; ``recover()``, and the next change of the
/// same app, settle remaining intents by looking at the tree. All of that is done under the folder's lock. Refreshing
/// the online roles is not recorded here: it changes no content.
package struct ReleaseOperations: Sendable {
    package let folder: ServerFolder
    package let records: ServerRecords
    package let files: any FileOperations
    let allowsTestingKeys: Bool
    let openKey: @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey?
    let threads: NIOThreadPool
    /// For documents that may not be signed by a quorum, and for uploaded keys.
    let documents: DocumentThreads
    /// How long to wait for another process that changes the folder.
    let patience: Duration
    let turn = SerialQueue()
    /// Gets the progress of work on many files.
    package var progress: TreeProgress = { _, _ in { _ in } }
    /// From how many earlier versions of a bundle a publish makes packs.
    package var packBases = 3

    /// Which derived files a publish makes before devices see the release.
    package var forms = FormEffort.best
    let publishing = PublishingCount()

    /// - Parameter openKey: opens an online key from its bytes and path; nil when it is encrypted and no passphrase was
    ///   given.
    package init(
        _ folder: ServerFolder,
        records: ServerRecords,
        files: any FileOperations,
        allowsTestingKeys: Bool,
        threads: NIOThreadPool = .singleton,
        documents: DocumentThreads = .ofProcess,
        patience: Duration = .seconds(10),
        openKey: @escaping @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey?
    ) {
        self.folder = folder
        self.records = records
        self.files = files
        self.allowsTestingKeys = allowsTestingKeys
        self.threads = threads
        self.documents = documents
        self.patience = patience
        self.openKey = openKey
    }

    package func repository(_ app: AppID) throws(ServerError) -> AppRepository {
        var repository = try AppRepository(app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
        repository.progress = progress
        repository.packBases = packBases
        return repository
    }

    /// Verifies a release and publishes it, or keeps it as a draft; with its history and audit entry.
    ///
    /// - Parameter wish: How its new versions begin. Without one, a draft's and then the channel's default counts.
    package func publish(
        _ release: SignedRelease,
        notes: ReleaseNotes,
        starting wish: StartingRollout? = nil,
        by actor: Actor
    ) async throws(OperationError) -> PublishOutcome {
        let (now, app) = (records.now(), release.header.app)
        publishing.begin()
        defer { publishing.end() }
        // Before the lock: a release without a quorum may take long to read, and one with a quorum to compress.
        let verified = try await reading(documentsOf: app) { () throws(OperationError) in
            try serving(app) { (repository) throws(ServerError) in try VerifyRelease(release, in: repository).run() }
        }
        let beginning = try await Rollouts(self).beginning(of: verified, by: wish)
        // Not in the app's turn at reading: another channel's release must not wait for it.
        let forms: CompressedForms
        do throws(ServerError) {
            forms = try await CompressForms(of: verified, in: repository(app), self.forms).run()
        } catch {
            throw .server(error)
        }
        defer { forms.discard(files) }
        let entry = HistoryEntry(release, notes: notes, started: beginning.started, by: actor, at: now)
        let intent = Intent(.publish(release.header.channel), of: app, by: actor, publishing: [entry])
        return try await change(intent) { () throws(OperationError) in
            try signing(app) { (repository, key) throws(ServerError) in
                var outcome = try PublishRelease(
                    release,
                    in: repository,
                    verified: verified,
                    compressed: forms,
                    rollout: beginning.rollout,
                    signing: key,
                    at: now
                ).run()
                if case .published(var done) = outcome, done.awaitsForms {
                    // It is published: another time removes them if this does not.
                    done.removedForms =
                        (try? RemoveUnusedForms(in: repository, packsAlone: true, at: now).run()) ?? .nothing
                    outcome = .published(done)
                }
                return outcome
            }
        } remembering: { (outcome, intent) async throws(OperationError) in
            let after = entry.audited(recovered: false)
            switch outcome {
            case .published:
                let changes = try await reading { () async throws(RecordError) in try await history(of: [entry]) }
                let versions = await difference(of: entry)?.audited ?? []
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
}
