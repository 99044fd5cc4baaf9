import PatchFormat
import PatchServer
import PatchStore
package import ServerRecords

/// Finishes or drops the changes of processes that ended before they were complete.
package struct SettleIntents: Sendable {
    let operations: ReleaseOperations

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    /// The abandoned intents, settled or not.
    package struct Recovery: Sendable {
        /// Releases that were published without a history entry.
        package var published: [HistoryEntry] = []
        /// Intents that cannot be settled now.
        ///
        /// The next change of their app and the next start try again.
        package var left: [(key: RecordKey, error: OperationError)] = []
    }

    /// Settles the intents of all apps.
    ///
    /// Waits for another process that is changing the folder, because it settles its own intents.
    package func run() async throws(OperationError) -> Recovery {
        let isAny = try await operations.reading { () async throws(RecordError) in
            try await !operations.records.store.records(RecordRange(Intent.collection, limit: 1)).isEmpty
        }
        guard isAny else { return Recovery() }
        return try await operations.inTurn { () async throws(OperationError) in try await left(prefix: "") }
    }

    func left(of app: AppID) async throws(OperationError) -> Recovery {
        try await left(prefix: Intent.prefix(app))
    }

    /// Settles each intent; one that cannot be settled does not block the others.
    ///
    /// The caller has the turn.
    private func left(prefix: String) async throws(OperationError) -> Recovery {
        let intents = try await operations.reading { () async throws(RecordError) in
            try await operations.records.store.records(RecordRange(Intent.collection, prefix: prefix, limit: 100_000))
        }
        var recovery = Recovery()
        for record in intents {
            do throws(OperationError) { recovery.published += try await settle(record) } catch {
                recovery.left.append((record.key, error))
            }
        }
        return recovery
    }

    /// - Returns: releases that were published without a history entry.
    func settle(_ record: Record) async throws(OperationError) -> [HistoryEntry] {
        let intent = try await operations.reading { () throws(RecordError) in try Intent(record) }
        let evidence = try await evidence(of: intent)
        return try await operations.reading { () async throws(RecordError) in
            var new: [HistoryEntry] = []
            for entry in evidence.published where try await operations.records.store.record(entry.key) == nil {
                new.append(entry)
            }
            let changes = [.remove(record)] + (try await History(operations).changes(publishing: new))
            if let event = evidence.event(of: intent, new: new) {
                try await operations.records.commit(changes, noting: event)
            } else {
                try await operations.records.store.commit(changes)
            }
            return new
        }
    }

    private func evidence(of intent: Intent) async throws(OperationError) -> IntentEvidence {
        do throws(OperationError) {
            return try await operations.looking(intent.app) { (repository) throws(ServerError) in
                try IntentEvidence(of: intent, in: repository)
            }
        } catch .server(.unknownApp) where intent.change == .create { return IntentEvidence() }
    }
}
