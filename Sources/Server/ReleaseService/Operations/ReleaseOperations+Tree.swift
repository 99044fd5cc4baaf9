package import PatchFormat
package import PatchServer
package import ServerRecords
package import SystemPackage

extension ReleaseOperations {
    /// Puts right what can be proved; see ``RepairTree``.
    ///
    /// Written down afterwards: a process that ends in between has put back only bytes that were vouched for before.
    package func repair(
        _ app: AppID,
        from sources: [FilePath],
        by actor: Actor
    ) async throws(OperationError) -> TreeReport {
        try await inTurn { () async throws(OperationError) in
            let history = try await remembered(of: app)
            let report = try await onThread { () throws(OperationError) in
                var repository = AppRepository(suspecting: app, in: folder, files: files)
                repository.progress = progress
                do throws(ServerError) {
                    return try RepairTree(of: repository, from: sources, history: history).run()
                } catch {
                    throw .server(error)
                }
            }
            let repaired = report.repaired.filter(\.rule.isFault).map(\.path)
            guard !repaired.isEmpty else { return report }
            let after = JSON.fields([
                ("files", .integer(repaired.count)), ("paths", .array(repaired.prefix(100).map { .text($0) })),
            ])
            let event = AuditEntry.Event("tree.repair", by: actor, app: app, after: after)
            try await reading { () async throws(RecordError) in try await records.commit([], noting: event) }
            return report
        }
    }

    /// Every release in the history of an app whose record of labels is gone; none where nobody needs them.
    private func remembered(of app: AppID) async throws(OperationError) -> [KnownRelease] {
        let repository = AppRepository(suspecting: app, in: folder, files: files)
        do throws(ServerError) { guard try repository.hasLostLabels() else { return [] } } catch {
            throw .server(error)
        }
        return try await reading { () async throws(RecordError) in
            var (found, after): ([KnownRelease], String?) = ([], nil)
            while true {
                let page = try await records.page(
                    RecordRange(HistoryEntry.collection, prefix: "\(app)/", after: after, limit: 500)
                )
                for record in page.records { found.append(try HistoryEntry(record).known) }
                guard page.hasMore, let last = page.records.last else { return found }
                after = last.key.name
            }
        }
    }

    /// Signs the roles of a tree that is to be exported, and writes down who did and how long they hold; see
    /// ``SignExport``.
    ///
    /// Nobody has them before that is written.
    package func ownRoles(
        of app: AppID,
        holding validity: Duration,
        by actor: Actor
    ) async throws(OperationError) -> OwnRoles {
        let now = records.now()
        return try await inTurn { () async throws(OperationError) in
            let roles = try await onThread { () throws(OperationError) in
                try signing(app) { (repository, key) throws(ServerError) in
                    try SignExport(of: repository, holding: validity, signing: key, at: now).run()
                }
            }
            let event = AuditEntry.Event("tree.export", by: actor, app: app, after: roles.json)
            try await reading { () async throws(RecordError) in try await records.commit([], noting: event) }
            return roles
        }
    }
}
