package import NIOPosix
package import PatchFormat
package import PatchServer
package import PatchStore
import PatchTrust
package import ReleaseFolder
package import ServerRecords
package import SystemPackage

/// Where releases are handed in: publishes them, and keeps history and audit log in step with what devices see.
///
/// The published tree and the records are two places, and a process can die between them. Before the tree is touched an
/// intent is written; afterwards it is exchanged for the history in one commit; ``recover()`` looks at what intents are
/// left and asks the tree what became of them.
package struct ReleaseDesk: Sendable {
    package let folder: ServerFolder
    package let records: ServerRecords
    package let files: any FileOperations
    let allowsTestingKeys: Bool
    let openKey: @Sendable (FilePath) throws -> OnlineKey?
    let threads: NIOThreadPool
    let turn = Turn()

    /// - Parameter openKey: the online key at a path; nil where it is encrypted and nobody gave its passphrase.
    package init(
        _ folder: ServerFolder,
        records: ServerRecords,
        files: any FileOperations,
        allowsTestingKeys: Bool,
        threads: NIOThreadPool = .singleton,
        openKey: @escaping @Sendable (FilePath) throws -> OnlineKey?
    ) {
        self.folder = folder
        self.records = records
        self.files = files
        self.allowsTestingKeys = allowsTestingKeys
        self.threads = threads
        self.openKey = openKey
    }

    package func repository(_ app: AppID) throws(ServerError) -> AppRepository {
        try AppRepository(app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
    }

    /// Verifies a release and publishes it, or keeps it as a draft; with its history and what the audit log says.
    package func publish(
        _ release: SignedRelease,
        notes: ReleaseNotes,
        by actor: Actor
    ) async throws(DeskError) -> PublishOutcome {
        let now = records.now()
        let intent = PublishIntent(release, notes: notes, by: actor, at: now)
        return try await turn.taken { () async throws(DeskError) in
            let app = intent.entry.app
            try await recover(app, intent.entry.channel)
            let before = try await summary(of: intent.entry.channel, in: app)
            try await reading { () async throws(RecordError) in
                try await records.store.commit([.insert(intent.key, intent.entry.json)])
            }
            let outcome: PublishOutcome
            do throws(DeskError) {
                outcome = try await changing(app) { (repository, key) throws(ServerError) in
                    try repository.publish(release, signing: key, at: now)
                }
            } catch .server(.file(let error)) {
                // Perhaps it is published: the tree knows, and is asked when it can be read.
                throw .server(.file(error))
            } catch {
                try await drop(intent)
                throw error
            }
            try await settle(intent, outcome, before: before)
            return outcome
        }
    }

    /// Finishes or forgets what a process was about to publish when it ended.
    ///
    /// - Returns: what was published and had no history yet.
    @discardableResult
    package func recover() async throws(DeskError) -> [HistoryEntry] {
        try await turn.taken { () async throws(DeskError) in
            var found: [HistoryEntry] = []
            let left = try await reading { () async throws(RecordError) in
                try await records.store.records(RecordRange(PublishIntent.collection, limit: 100_000))
            }
            for record in left {
                if let entry = try await recover(record) { found.append(entry) }
            }
            return found
        }
    }

    private func recover(_ app: AppID, _ channel: ChannelName) async throws(DeskError) {
        let left = try await reading { () async throws(RecordError) in
            try await records.store.record(PublishIntent.key(app, channel))
        }
        if let left { _ = try await recover(left) }
    }

    private func recover(_ record: Record) async throws(DeskError) -> HistoryEntry? {
        let intent = try await reading { () throws(RecordError) in try PublishIntent(record) }
        let entry = intent.entry
        let (isPublished, isDraft) = try await looking(entry.app) { (repository) throws(ServerError) in
            let state = try PublishedState(of: repository)
            let drafts = try repository.drafts(of: entry.channel)
            return (
                state.channels[entry.channel]?.identity == entry.identity,
                drafts.contains { $0.identity == entry.identity }
            )
        }
        var changes: [RecordChange] = [.remove(record)]
        var event: AuditEntry.Event?
        let known = try await reading { () async throws(RecordError) in try await records.store.record(entry.key) }
        if isPublished, known == nil {
            changes.append(.insert(entry.key, entry.json))
            changes += try await reading { () async throws(RecordError) in try await ending(entry) }
            event = AuditEntry.Event(
                "release.publish",
                by: entry.actor,
                app: entry.app,
                channel: entry.channel,
                after: entry.audited(recovered: true)
            )
        } else if isDraft {
            event = AuditEntry.Event(
                "release.draft",
                by: entry.actor,
                app: entry.app,
                channel: entry.channel,
                after: entry.audited(recovered: true)
            )
        }
        let (all, noted) = (changes, event)
        try await reading { () async throws(RecordError) in
            if let noted { try await records.commit(all, noting: noted) } else { try await records.store.commit(all) }
        }
        return isPublished && known == nil ? entry : nil
    }

    private func settle(_ intent: PublishIntent, _ outcome: PublishOutcome, before: JSON) async throws(DeskError) {
        try await reading { () async throws(RecordError) in
            do throws(RecordError) {
                try await write(intent, outcome, before: before)
            } catch .conflict {
                // Another process took this one for dead, and wrote down what it found in the tree.
                try await write(intent, outcome, before: before)
            }
        }
    }

    private func write(_ intent: PublishIntent, _ outcome: PublishOutcome, before: JSON) async throws(RecordError) {
        let entry = intent.entry
        var changes: [RecordChange] = try await record(of: intent).map { [.remove($0)] } ?? []
        let action: String
        var after = entry.audited(recovered: false)
        switch outcome {
        case .published:
            action = "release.publish"
            if try await records.store.record(entry.key) == nil {
                changes.append(.insert(entry.key, entry.json))
            } else if changes.isEmpty {
                // Another process took this one for dead, found the release in the tree and wrote it down.
                return
            }
            changes += try await ending(entry)
        case .drafted(_, _, let quorum):
            action = "release.draft"
            after = after.adding([("signatures", .integer(quorum.valid)), ("threshold", .integer(quorum.needed))])
        case .alreadyPublished(_, _, let change):
            guard change.files > 0 else { return try await records.store.commit(changes) }
            action = "release.repair"
            after = after.adding([("filesWritten", .integer(change.files))])
        }
        try await records.commit(
            changes,
            noting: AuditEntry.Event(
                action,
                by: entry.actor,
                app: entry.app,
                channel: entry.channel,
                before: before,
                after: after
            )
        )
    }

    private func drop(_ intent: PublishIntent) async throws(DeskError) {
        try await reading { () async throws(RecordError) in
            guard let record = try await record(of: intent) else { return }
            try await records.store.commit([.remove(record)])
        }
    }

    /// Nil where another process took this one for dead and forgot its intent: another may stand there now.
    private func record(of intent: PublishIntent) async throws(RecordError) -> Record? {
        guard let record = try await records.store.record(intent.key), try PublishIntent(record) == intent else {
            return nil
        }
        return record
    }

    /// The channel as it is, for the audit log.
    private func summary(of channel: ChannelName, in app: AppID) async throws(DeskError) -> JSON {
        try await looking(app) { (repository) throws(ServerError) in
            let state = try PublishedState(of: repository)
            guard let current = state.channels[channel] else { return .null }
            return .fields([
                ("roleVersion", .integer(current.role.header.version)), ("identity", .text(current.identity.hex)),
            ])
        }
    }
}
