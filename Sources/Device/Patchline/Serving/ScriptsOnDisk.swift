import AssetServer
import Linux
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync

/// The script patches of one selection while they are served.
///
/// A file that is unchanged since it was verified is served directly. A changed file is hashed first, and served only if it
/// contains the signed bytes, for example after a sync healed it.
final class ScriptsOnDisk: ScriptFiles {
    private struct Known {
        var check: IntegrityCheck
        var damaged: Set<PatchID> = []
        /// The pages reported as served without scripts, with the reason.
        ///
        /// The set is bounded, because clients can invent any number of addresses.
        var leftOut: Set<String> = []
    }

    private let patches: [PatchID: InstalledPatch]
    private let known: NIOLockedValueBox<Known>
    /// Protects the files from clean-up while they are served.
    private let keeping: LiveFile?
    private let whenDamaged: @Sendable (String) -> Void
    private let whenLeftOut: @Sendable (String, PagePlan.Reason) -> Void

    /// - Parameters:
    ///   - whenDamaged: Called with a description of the file when it is found to be damaged.
    ///   - whenLeftOut: Called with a page that is served without its scripts, once for each reason.
    init(
        _ patches: [InstalledPatch],
        check: IntegrityCheck,
        keeping: LiveFile?,
        whenDamaged: @escaping @Sendable (String) -> Void,
        whenLeftOut: @escaping @Sendable (String, PagePlan.Reason) -> Void
    ) {
        self.patches = Dictionary(patches.map { ($0.patchID, $0) }) { first, _ in first }
        self.keeping = keeping
        self.whenDamaged = whenDamaged
        self.whenLeftOut = whenLeftOut
        known = NIOLockedValueBox(Known(check: check))
    }

    func recorded(_ script: ServedScripts.Script) -> AssetFile? {
        guard let patch = patches[script.patchID] else { return nil }
        return known.withLockedValue(\.check).recorded(patch).map(AssetFile.init)
    }

    private static let reportLimit = 64

    func leftOut(of page: String, _ reason: PagePlan.Reason) {
        let isNew = known.withLockedValue { known in
            known.leftOut.count < Self.reportLimit && known.leftOut.insert("\(reason.rawValue) \(page)").inserted
        }
        if isNew { whenLeftOut(page, reason) }
    }

    func examined(_ script: ServedScripts.Script) -> AssetFile? {
        guard let patch = patches[script.patchID] else { return nil }
        var check = known.withLockedValue(\.check)
        // A file that cannot be examined is not served either.
        guard let found = (try? check.examine(patch)) ?? nil else {
            let isNew = known.withLockedValue { $0.damaged.insert(script.patchID).inserted }
            if isNew { whenDamaged(patch.label.description) }
            return nil
        }
        known.withLockedValue { known in
            known.check.record(found.1, of: script.sha256, at: found.0)
            known.damaged.remove(script.patchID)
        }
        return AssetFile(found)
    }
}

extension AssetFile {
    init(_ found: (place: FileLocation, identity: FileIdentity)) {
        self.init(path: found.place.path, root: found.place.root, identity: found.identity)
    }
}
