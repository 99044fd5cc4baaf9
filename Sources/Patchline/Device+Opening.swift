import AssetServer
import PatchFormat
import PatchStore
import PatchSync

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
        let bundles = selection.patches.filter { $0.kind == .bundle }
        guard let patch = id.map({ id in bundles.first { $0.patchID == id } }) ?? bundles.first else { return nil }
        var examination = Examination(store: store, records: store.records())
        let faults = try examination.faults(of: patch)
        guard !faults.contains(where: { $0.asset == nil }), let index = try examination.index(of: patch) else {
            return OpenedBundle(table: nil, faults: faults.map(\.file))
        }
        let table = AssetTable(
            index,
            folder: store.bundle(patch.fingerprint.sha256),
            damaged: Set(faults.compactMap { $0.asset?.path })
        )
        return OpenedBundle(table: table, faults: faults.map(\.file))
    }
}
