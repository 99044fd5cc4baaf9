import AssetServer
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

extension Device {
    /// A selection's bundle, ready to be served.
    struct OpenedBundle {
        /// Nil when its manifest is missing or altered.
        let table: AssetTable?
        /// Files that must not be served as they lie there.
        let faults: [String]
    }

    /// Looks at every file of the served bundle; what is unchanged since it was verified is not hashed again.
    ///
    /// - Parameter bundle: which one, where there are several; the first by id otherwise.
    func open(_ selection: Selection, bundle id: PatchID?) throws(SyncError) -> OpenedBundle? {
        guard let patch = selection.bundle(id) else { return nil }
        var examination = Examination(store: store, records: store.records())
        let faults = try examination.faults(of: patch)
        guard !faults.contains(where: { $0.asset == nil }), let index = try examination.index(of: patch) else {
            return OpenedBundle(table: nil, faults: faults.map(\.file))
        }
        let (store, bundle) = (store, patch.fingerprint.sha256)
        let table = AssetTable(index, damaged: Set(faults.compactMap { $0.asset?.path })) { row in
            let own = AssetTable.Location(path: store.bundle(bundle).appending(row.path), root: store.bundle(bundle))
            // A disk that cannot be looked at is for the server to report, once it opens the file.
            guard let place = try? store.place(of: row.path, row.sha256, in: bundle) else { return own }
            return AssetTable.Location(path: place.path, root: place.root)
        }
        return OpenedBundle(table: table, faults: faults.map(\.file))
    }
}

extension Selection {
    /// The bundle that is served: the one with this id, or the first where none is given.
    func bundle(_ id: PatchID?) -> InstalledPatch? {
        let bundles = patches.filter { $0.kind == .bundle }
        guard let id else { return bundles.first }
        return bundles.first { $0.patchID == id }
    }
}
