import Gateways
package import PatchFormat
package import PatchServer
package import ServerRecords

/// Data from devices: places of headcounts, and statistics of JSPatch's packages.
extension ReleaseOperations {
    /// A dial's state with the number of taken places.
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

    /// Removes places in versions that their channels no longer list.
    ///
    /// - Parameter dryRun: counts them, and removes none.
    /// - Returns: the number of places.
    package func removeUnlistedPlaces(
        of app: AppID,
        dryRun: Bool = false,
        by actor: Actor
    ) async throws(OperationError) -> Int {
        if dryRun { return try await removeUnlistedPlaces(of: app, dryRun: true) }
        // Under the lock, so that no publish lists them again meanwhile.
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

    /// A listing with the devices' reports on JSPatch's packages.
    package func counting(_ listing: AppListing) async throws(OperationError) -> AppListing {
        guard listing.takesReports else { return listing }
        var counts: [ChannelName: [PlatformCounts]] = [:]
        for channel in listing.channels where !channel.gateways.packages.isEmpty {
            counts[channel.name] = try await reading { () async throws(RecordError) in
                try await PlatformStatistics.counts(of: listing.app, in: channel.name, from: records.store)
            }
        }
        return listing.counting(counts)
    }

    /// Removes reports on versions that their channels no longer list.
    ///
    /// - Returns: the number of versions.
    package func removeUnlistedStatistics(of app: AppID, dryRun: Bool = false) async throws(OperationError) -> Int {
        let store = records.store
        let found = try await reading { () async throws(RecordError) in
            try await PlatformStatistics.all(PlatformStatistics.prefix(app), in: store)
        }
        guard !found.isEmpty else { return 0 }
        let listed = try await looking(app) { (repository) throws(ServerError) in try repository.gatewayPackages() }
        return try await reading { () async throws(RecordError) in
            var removed: Set<String> = []
            for record in found {
                let (statistics, _) = try PlatformStatistics.parsed(record.key)
                guard !statistics.isIn(listed[statistics.channel] ?? []) else { continue }
                removed.insert(statistics.prefix)
                guard !dryRun else { continue }
                // A record that changes meanwhile is left for the next run.
                do throws(RecordError) { try await store.commit([.remove(record)]) } catch .conflict { continue }
            }
            return removed.count
        }
    }
}
