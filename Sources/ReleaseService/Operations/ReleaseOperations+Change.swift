import PatchFormat
import PatchServer
import PatchStore
import ReleaseTree
import ServerRecords

/// What is to be remembered of a change.
struct RecordedOutcome: Sendable {
    var changes: [RecordChange] = []
    /// Nil where nothing was changed.
    var event: AuditEntry.Event?
}

extension ReleaseOperations {
    /// The one way in which an app is changed and written down.
    ///
    /// The intent is written, the tree is changed, the intent is exchanged for what is to be remembered, in this order and
    /// under the folder's lock from the first look to the last commit; see ``inTurn(_:)``.
    ///
    /// - Parameters:
    ///   - work: changes the tree, on a thread that may wait for the disk. What it throws but `file` says that nothing was.
    ///   - remember: given what came of it, and what stood there before. Where it throws, the intent stays.
    func change<Outcome: Sendable>(
        _ intent: Intent,
        _ work: @escaping @Sendable () throws(OperationError) -> Outcome,
        remembering remember: @escaping @Sendable (Outcome, Intent) async throws(OperationError) -> RecordedOutcome
    ) async throws(OperationError) -> Outcome {
        try await inTurn { () async throws(OperationError) in
            try await settleOthers(before: intent)
            let (written, left) = try await write(intent)
            let outcome: Outcome
            do throws(OperationError) { outcome = try await onThread(work) } catch .server(.file(let error)) {
                // Perhaps it is done: the tree knows, and is asked when it can be read.
                throw .server(.file(error))
            } catch {
                try await drop(written, for: left)
                throw error
            }
            let remembered = try await remember(outcome, written)
            try await reading { () async throws(RecordError) in
                let changes = try await removal(of: written) + remembered.changes
                if let event = remembered.event {
                    try await records.commit(changes, noting: event)
                } else {
                    try await records.store.commit(changes)
                }
            }
            return outcome
        }
    }

    /// What was left must be written down before anything else changes, or it would be told with the wrong end; an update of
    /// the trust may be what makes it readable, and what cannot be read as an intent tells nothing.
    private func settleOthers(before intent: Intent) async throws(OperationError) {
        let left = try await settleLeft(of: intent.app).left
        if intent.change == .takeTrust { return }
        for (key, error) in left where key != intent.key {
            if case .records(.malformed) = error { continue }
            throw error
        }
    }

    /// - Returns: the intent with what stands there now; and one that was left and could not be settled, whose place it
    ///   takes.
    private func write(_ intent: Intent) async throws(OperationError) -> (Intent, left: Intent?) {
        if let left = try await reading({ () async throws(RecordError) in try await records.store.record(intent.key) })
        {
            let other = try await reading { () throws(RecordError) in try Intent(left) }
            // The same update of the trust, run again, is what makes the tree readable.
            guard case .takeTrust = intent.change else {
                _ = try await settle(left)
                return try await write(intent)
            }
            let written = intent.continuing(other)
            let json = written.json
            try await reading { () async throws(RecordError) in
                try await records.store.commit([.replace(left, with: json)])
            }
            return (written, other)
        }
        let written = try await begun(intent)
        try await reading { () async throws(RecordError) in
            try await records.store.commit([.insert(written.key, written.json)])
        }
        return (written, nil)
    }

    /// Where it cannot be read nothing is known of it: an update of the trust may be what heals it.
    private func begun(_ intent: Intent) async throws(OperationError) -> Intent {
        if intent.change == .create { return intent }
        do throws(OperationError) {
            return try await looking(intent.app) { (repository) throws(ServerError) in
                try intent.begun(on: repository)
            }
        } catch {
            guard case .takeTrust = intent.change else { throw error }
            return intent
        }
    }

    private func drop(_ intent: Intent, for left: Intent?) async throws(OperationError) {
        try await reading { () async throws(RecordError) in
            guard let record = try await records.store.record(intent.key) else { return }
            try await records.store.commit([left.map { .replace(record, with: $0.json) } ?? .remove(record)])
        }
    }

    private func removal(of intent: Intent) async throws(RecordError) -> [RecordChange] {
        try await records.store.record(intent.key).map { [.remove($0)] } ?? []
    }

    /// The history of releases that were published, and the proposals that they carried out.
    func history(of entries: [HistoryEntry]) async throws(RecordError) -> [RecordChange] {
        var changes: [RecordChange] = []
        for entry in entries where try await records.store.record(entry.key) == nil {
            changes.append(.insert(entry.key, entry.json))
            changes += try await ending(entry)
        }
        return changes
    }
}
