package import PatchFormat
package import PatchServer
package import ServerRecords

/// How many places of head-counts are taken, and which nobody needs any more.
extension ReleaseOperations {
    /// A dial's state with the number of places that are taken.
    package func counting(_ state: DialState) async throws(OperationError) -> DialState {
        guard state.hasHeadcounts else { return state }
        var taken: [Places.Content: Int] = [:]
        for version in state.versions where version.row?.headcount != nil {
            let places = Places(
                app: state.app,
                channel: state.channel,
                patchID: version.patchID,
                sha256: version.sha256
            )
            taken[places.content] = try await reading { () async throws(RecordError) in
                try await places.taken(in: records.store)
            }
        }
        let counts = taken
        return state.counting { counts[Places.Content(patchID: $0, sha256: $1)] ?? 0 }
    }

    /// Places in versions that their channels do not list any more.
    ///
    /// - Parameter dryRun: counts them, and removes none.
    /// - Returns: how many places.
    package func removeUnlistedPlaces(
        of app: AppID,
        dryRun: Bool = false,
        by actor: Actor
    ) async throws(OperationError) -> Int {
        if dryRun { return try await removeUnlistedPlaces(of: app, dryRun: true) }
        // Nobody publishes meanwhile what lists them again.
        return try await inTurn { () async throws(OperationError) in
            let removed = try await removeUnlistedPlaces(of: app, dryRun: false)
            guard removed > 0 else { return 0 }
            let event = AuditEntry.Event(
                "places.collect",
                by: actor,
                app: app,
                after: .fields([("places", .integer(removed))])
            )
            try await reading { () async throws(RecordError) in try await records.commit([], noting: event) }
            return removed
        }
    }

    private func removeUnlistedPlaces(of app: AppID, dryRun: Bool) async throws(OperationError) -> Int {
        let range = RecordRange(Places.counts, prefix: Places.prefix(app), limit: 1_000_000)
        let counts = try await reading { () async throws(RecordError) in try await records.store.records(range) }
        guard !counts.isEmpty else { return 0 }
        let listed = try await looking(app) { (repository) throws(ServerError) in try repository.listedContents() }
        return try await reading { () async throws(RecordError) in
            var removed = 0
            for record in counts {
                let places = try Places(record.key)
                if listed[places.channel]?.contains(where: places.isIn) == true { continue }
                removed += dryRun ? try Places.taken(record) : try await places.removeAll(in: records.store)
            }
            return removed
        }
    }
}

extension Places {
    struct Content: Hashable {
        let patchID: PatchID
        let sha256: SHA256Digest
    }

    var content: Content { Content(patchID: patchID, sha256: sha256) }

    func isIn(_ entry: PatchEntry) -> Bool {
        entry.patchID == patchID && entry.fingerprint.sha256 == sha256
    }
}
