import NIOConcurrencyHelpers
import PatchFormat
package import PatchServer
import PatchStore
import ServerRecords

/// Apps with reports from their clients, cached for repeated requests of the numbers.
package final class ReportedListings: Sendable {
    private struct Known: Sendable {
        let revision: StoredFile
        let listing: AppListing
    }

    private let operations: ReleaseOperations
    /// The published state is verified only once.
    private let known = NIOLockedValueBox<[AppID: Known]>([:])

    package init(_ operations: ReleaseOperations) {
        self.operations = operations
    }

    /// The present listings; without unreadable apps.
    package func now() async -> [AppListing] {
        var listings: [AppListing] = []
        for app in (try? operations.folder.allApps(files: operations.files)) ?? [] {
            do throws(OperationError) {
                let hasReports = try await operations.reading { () async throws(RecordError) in
                    try await PlatformStatistics.hasAny(of: app, in: operations.records.store)
                }
                guard hasReports else { continue }
                let listing = try await listing(of: app)
                if listing.takesReports { listings.append(try await operations.counting(listing)) }
            } catch { continue }
        }
        return listings
    }

    private func listing(of app: AppID) async throws(OperationError) -> AppListing {
        let known = known.withLockedValue { $0[app] }
        let read = try await operations.looking(app) { (repository) throws(ServerError) -> (StoredFile?, AppListing) in
            // The revision is read first: a publish in between makes it stale.
            let revision = try repository.revision()
            if let known, known.revision == revision { return (revision, known.listing) }
            return (revision, try AppListing(of: repository))
        }
        if let revision = read.0 {
            self.known.withLockedValue { $0[app] = Known(revision: revision, listing: read.1) }
        }
        return read.1
    }
}
