package import PatchFormat

/// Derived files that were removed.
package struct RemovedForms: Equatable, Sendable {
    package var files = 0
    package var bytes = 0

    package static let nothing = RemovedForms()

    package init(files: Int = 0, bytes: Int = 0) {
        (self.files, self.bytes) = (files, bytes)
    }
}

/// Removes the derived files that devices no longer request; the caller holds the lock.
package struct RemoveUnusedForms: Sendable {
    private let repository: AppRepository
    private let packsAlone: Bool
    private let now: UTCTime

    /// - Parameter packsAlone: only checks packs and the forms of documents and whole bundles, which are few compared with the
    ///   forms of single files.
    package init(in repository: AppRepository, packsAlone: Bool = false, at now: UTCTime) {
        (self.repository, self.packsAlone, self.now) = (repository, packsAlone, now)
    }

    package func run() throws(ServerError) -> RemovedForms {
        let (storage, app) = (repository.storage, repository.app)
        let state = try PublishedState(of: repository)
        let usable = try UsableForms(of: repository.tree, state, objectsToo: !packsAlone, at: now)
        let listing = try packsAlone ? storage.listingOfPacks() : storage.listing()
        let gone = usable.unused(in: listing).sorted { TreePath(app, $0).path < TreePath(app, $1).path }
        guard !gone.isEmpty else { return .nothing }
        // Before the packs are removed: after an interruption, no index names a missing pack.
        if gone.contains(where: \.isInPackIndex) { try IndexPacks(in: repository, without: Set(gone)).run() }
        try storage.remove(gone)
        return RemovedForms(files: gone.count, bytes: gone.reduce(0) { $0 + (listing.files[$1]?.size ?? 0) })
    }
}
