package import PatchFormat

extension AppRepository {
    /// Removes the derived files that no device asks for any more; the caller holds the lock.
    ///
    /// - Parameter packsAlone: looks at packs and at forms of documents and whole bundles, which are few beside the forms of
    ///   single files.
    package func removeUnusedForms(packsAlone: Bool = false, at now: UTCTime) throws(ServerError) -> RemovedForms {
        let state = try PublishedState(of: self)
        let usable = try UsableForms(of: tree, state, objectsToo: !packsAlone, at: now)
        let listing = try packsAlone ? storage.listingOfPacks() : storage.listing()
        let gone = usable.unused(in: listing).sorted { TreePath(app, $0).path < TreePath(app, $1).path }
        guard !gone.isEmpty else { return .nothing }
        // Before the packs: interrupted in between, no index names one that is missing.
        if gone.contains(where: \.isInPackIndex) { try IndexPacks(in: self, without: Set(gone)).run() }
        try storage.remove(gone)
        return RemovedForms(files: gone.count, bytes: gone.reduce(0) { $0 + (listing.files[$1]?.size ?? 0) })
    }
}
