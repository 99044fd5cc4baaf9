package import PatchFormat
package import PatchServer
package import ServerRecords
package import SystemPackage

/// Operations that are a single call on the tree.
extension ReleaseOperations {
    /// The drafts of a channel, by version, including unreadable ones.
    package func drafts(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [AppListing.DraftRow] {
        try await looking(app) { (repository) throws(ServerError) in
            try AppListing(of: repository).drafts.filter { $0.channel == channel }
        }
    }

    /// - Returns: nil if there is none.
    package func draft(
        of channel: ChannelName,
        version: Int,
        in app: AppID
    ) async throws(OperationError) -> WaitingDraft? {
        try await looking(app) { (repository) throws(ServerError) in
            guard let draft = try repository.tree.draft(of: channel, version: version) else { return nil }
            return try WaitingDraft(draft, in: try AppListing(of: repository), try PublishedState(of: repository))
        }
    }

    /// Makes packs to versions that a channel lists now, and adds them to its tree; existing packs stay.
    ///
    /// Packs are used only for transport: the published state is unchanged, and nothing is recorded.
    /// - Returns: the files written.
    package func makePacks(
        of channel: ChannelName,
        in app: AppID,
        _ wanted: WantedPacks
    ) async throws(OperationError) -> TreeChange {
        let made: CompressedForms
        do throws(ServerError) { made = try await MakePacks(of: channel, wanted, in: repository(app)).run() } catch {
            throw .server(error)
        }
        defer { made.discard(files) }
        guard made.count > 0 else { return .nothing }
        return try await inTurn { () async throws(OperationError) in
            try await looking(app) { (repository) throws(ServerError) in
                try WriteTree(adding: made, in: repository).run()
            }
        }
    }

    /// Repairs the faults that can be proved; see ``RepairTree``.
    ///
    /// Recorded afterwards: a process that ends in between has restored only bytes that were verified before.
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

    /// Every release in the history of an app that lost its record of labels; empty if it did not.
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

    /// Signs the roles of a tree for export, and records the operator and their expiry; see ``SignExport``.
    ///
    /// The roles are returned only after that is recorded.
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

    /// A document of the published tree, or a small object.
    ///
    /// - Returns: nil if it does not exist, or is too large to be answered from memory.
    package func published(_ file: TreePath.File, of app: AppID) async throws(OperationError) -> [UInt8]? {
        let limit: Int
        switch file {
        case .target: limit = Limits.manifest
        case .object: limit = Limits.loaderPackage
        default: limit = Limits.targetsRole
        }
        return try await looking(app) { (repository) throws(ServerError) in
            if case .object = file, let status = try repository.tree.storage.status(of: file), status.size > limit {
                return nil
            }
            return try repository.tree.storage.read(file, limit: limit)
        }
    }
}
