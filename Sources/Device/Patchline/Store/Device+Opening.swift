import AssetServer
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync

extension Device {
    /// A selection's bundle, ready to be served.
    enum OpenedBundle {
        case ready(AssetTable)
        /// Its manifest is missing or altered: the next sync heals it.
        case damaged(String)

        var table: AssetTable? { if case .ready(let table) = self { table } else { nil } }

        var fault: String? { if case .damaged(let file) = self { file } else { nil } }
    }

    /// The script patches of a selection; their files are looked at when somebody asks for them, and stay until then.
    ///
    /// - Parameters:
    ///   - whenDamaged: called for each file that turns out to be missing or altered.
    ///   - whenLeftOut: called for each page that comes without its scripts.
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

    /// Finds out what a bundle holds; its files are looked at when somebody asks for them, and stay until then.
    ///
    /// - Parameters:
    ///   - bundle: which one, where there are several; the first by id otherwise.
    ///   - whenDamaged: called for each file that turns out to be missing or altered.
    func open(
        _ selection: Selection,
        bundle id: PatchID?,
        whenDamaged: @escaping @Sendable (String) -> Void
    ) throws(SyncError) -> OpenedBundle? {
        guard let patch = selection.bundle(id) else { return nil }
        // Before anything is looked at: what is there then stays.
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
    /// The bundle that is served: the one with this id, or the first where none is given.
    func bundle(_ id: PatchID?) -> InstalledPatch? {
        let bundles = patches.filter { $0.kind == .bundle }
        guard let id else { return bundles.first }
        return bundles.first { $0.patchID == id }
    }
}
