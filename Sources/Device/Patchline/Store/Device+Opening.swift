import AssetServer
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync

extension Device {
    /// A selection's bundle, ready to be served.
    enum OpenedBundle {
        case ready(AssetTable)
        /// The bundle's manifest is missing or altered. The next sync heals it.
        case damaged(String)

        var table: AssetTable? { if case .ready(let table) = self { table } else { nil } }

        var fault: String? { if case .damaged(let file) = self { file } else { nil } }
    }

    /// Opens the script patches of a selection.
    ///
    /// Each file is examined on its first request, and clean-up does not delete it before.
    ///
    /// - Parameters:
    ///   - whenDamaged: Called for each file that is found to be missing or altered.
    ///   - whenLeftOut: Called for each page that is served without its scripts.
    func scripts(
        of selection: Selection,
        whenDamaged: @escaping @Sendable (String) -> Void,
        whenLeftOut: @escaping @Sendable (String, PagePlan.Reason) -> Void
    ) -> ServedScripts {
        let patches = selection.scripts
        guard !patches.isEmpty else { return .none }
        let keeping = store.keepingServed(selection)
        let check = IntegrityCheck(store: store, records: store.records())
        return ServedScripts(
            patches.map { patch in
                ServedScripts.Script(
                    patchID: patch.patchID,
                    version: patch.version,
                    sha256: patch.fingerprint.sha256,
                    size: patch.fingerprint.size,
                    place: patch.place
                )
            },
            files: ScriptsOnDisk(
                patches,
                check: check,
                keeping: keeping,
                whenDamaged: whenDamaged,
                whenLeftOut: whenLeftOut
            )
        )
    }

    /// Opens a bundle.
    ///
    /// Each file is examined on its first request, and clean-up does not delete it before.
    ///
    /// - Parameters:
    ///   - bundle: The bundle's id if there are several. Nil for the first by id.
    ///   - whenDamaged: Called for each file that is found to be missing or altered.
    func open(
        _ selection: Selection,
        bundle id: PatchID?,
        whenDamaged: @escaping @Sendable (String) -> Void
    ) throws(SyncError) -> OpenedBundle? {
        guard let patch = selection.bundle(id) else { return nil }
        // Must precede the examination, so that clean-up does not delete the files in between.
        let keeping = store.keepingServed(selection)
        var check = IntegrityCheck(store: store, records: store.records())
        var index = store.index(of: patch.fingerprint.sha256)
        if index == nil {
            if let fault = try check.manifestFault(of: patch) { return .damaged(fault.file) }
            index = try check.index(of: patch)
        }
        guard let index else { return .damaged("\(patch.label) manifest") }
        let files = ServedBundle(patch, check: check, keeping: keeping, whenDamaged: whenDamaged)
        return .ready(AssetTable(index, files: files))
    }
}

extension Selection {
    /// Returns the bundle with this id; nil for the first by id.
    func bundle(_ id: PatchID?) -> InstalledPatch? {
        let bundles = patches.filter { $0.kind == .bundle }
        guard let id else { return bundles.first }
        return bundles.first { $0.patchID == id }
    }
}
