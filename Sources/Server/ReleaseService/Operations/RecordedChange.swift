import PatchFormat
import PatchServer
import PatchStore
import ServerRecords

/// The records to write after a change.
struct RecordedOutcome: Sendable {
    var changes: [RecordChange] = []
    /// Nil if nothing was changed.
    var event: AuditEntry.Event?
}

/// The only way to change an app and record the change.
///
/// Writes the intent, changes the tree, then replaces the intent by the records, in this order and under the folder's lock from the
/// first read to the last commit; see ``ReleaseOperations/inTurn(_:)``.
struct RecordedChange<Outcome: Sendable>: Sendable {
    private let operations: ReleaseOperations
    private let intent: Intent
    private let check: @Sendable () async throws(OperationError) -> Void
    private let work: @Sendable () throws(OperationError) -> Outcome
    private let remember: @Sendable (Outcome, Intent) async throws(OperationError) -> RecordedOutcome

    /// - Parameters:
    ///   - check: runs before anything is written; if it throws, nothing is changed.
    ///   - work: changes the tree, on a thread that may wait for the disk. Any error but `file` means that nothing was changed.
    ///   - remember: makes the records from the outcome and the state before. If it throws, the intent stays.
    init(
        _ intent: Intent,
        by operations: ReleaseOperations,
        checking check: @escaping @Sendable () async throws(OperationError) -> Void = {},
        _ work: @escaping @Sendable () throws(OperationError) -> Outcome,
        remembering remember: @escaping @Sendable (Outcome, Intent) async throws(OperationError) -> RecordedOutcome
    ) {
        (self.intent, self.operations) = (intent, operations)
        (self.check, self.work, self.remember) = (check, work, remember)
    }

    func run() async throws(OperationError) -> Outcome {
        try await operations.inTurn { () async throws(OperationError) in
            try await settleOthers()
            try await check()
            let (written, left) = try await write(intent)
            let outcome: Outcome
            do throws(OperationError) { outcome = try await operations.onThread(work) } catch .server(.file(let error))
            {
                // The change may be done: the tree shows that, once it can be read.
                throw .server(.file(error))
            } catch {
                try await drop(written, for: left)
                throw error
            }
            let remembered = try await remember(outcome, written)
            try await operations.reading { () async throws(RecordError) in
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

    private var records: ServerRecords { operations.records }

    /// Settles earlier intents before any other change, or their outcome would be misread.
    ///
    /// Errors are ignored for an update of the trust, which may be needed to make the tree readable, and for a record that cannot
    /// be parsed.
    private func settleOthers() async throws(OperationError) {
        let left = try await SettleIntents(operations).left(of: intent.app).left
        if intent.change == .takeTrust { return }
        for (key, error) in left where key != intent.key {
            if case .records(.malformed) = error { continue }
            throw error
        }
    }

    /// - Returns: the intent with the present state; and an earlier one that could not be settled, which it replaces.
    private func write(_ intent: Intent) async throws(OperationError) -> (Intent, left: Intent?) {
        if let left = try await operations.reading({ () async throws(RecordError) in
            try await records.store.record(intent.key)
        }) {
            let other = try await operations.reading { () throws(RecordError) in try Intent(left) }
            // Running the same update of the trust again makes the tree readable.
            guard case .takeTrust = intent.change else {
                _ = try await SettleIntents(operations).settle(left)
                return try await write(intent)
            }
            let written = intent.continuing(other)
            let json = written.json
            try await operations.reading { () async throws(RecordError) in
                try await records.store.commit([.replace(left, with: json)])
            }
            return (written, other)
        }
        let written = try await begun(intent)
        try await operations.reading { () async throws(RecordError) in
            try await records.store.commit([.insert(written.key, written.json)])
        }
        return (written, nil)
    }

    /// If the tree cannot be read, the state before stays unknown: an update of the trust may repair the tree.
    private func begun(_ intent: Intent) async throws(OperationError) -> Intent {
        if intent.change == .create { return intent }
        do throws(OperationError) {
            return try await operations.looking(intent.app) { (repository) throws(ServerError) in
                try intent.begun(on: repository)
            }
        } catch {
            guard case .takeTrust = intent.change else { throw error }
            return intent
        }
    }

    private func drop(_ intent: Intent, for left: Intent?) async throws(OperationError) {
        try await operations.reading { () async throws(RecordError) in
            guard let record = try await records.store.record(intent.key) else { return }
            try await records.store.commit([left.map { .replace(record, with: $0.json) } ?? .remove(record)])
        }
    }

    private func removal(of intent: Intent) async throws(RecordError) -> [RecordChange] {
        try await records.store.record(intent.key).map { [.remove($0)] } ?? []
    }
}
