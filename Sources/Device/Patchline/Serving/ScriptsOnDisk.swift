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
/// A file that is the one that was verified is served as it lies. Another is hashed first, and served only where it holds the
/// signed bytes, as it does once a sync has healed it.
final class ScriptsOnDisk: ScriptFiles {
    private struct Known {
        var check: IntegrityCheck
        var damaged: Set<PatchID> = []
        /// Pages that were told to come as they are, and why; bounded, for an address is anybody's to make up.
        var leftOut: Set<String> = []
    }

    private let patches: [PatchID: InstalledPatch]
    private let known: NIOLockedValueBox<Known>
    /// Keeps clean-up away until nobody serves this any more.
    private let keeping: LiveFile?
    private let whenDamaged: @Sendable (String) -> Void
    private let whenLeftOut: @Sendable (String, PagePlan.Reason) -> Void

    /// - Parameters:
    ///   - whenDamaged: called with the file in words, when it turns out to be damaged.
    ///   - whenLeftOut: called with a page that comes without its scripts, once for each reason.
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

    private static let mostTold = 64

    func leftOut(of page: String, _ reason: PagePlan.Reason) {
        let isNew = known.withLockedValue { known in
            known.leftOut.count < Self.mostTold && known.leftOut.insert("\(reason.rawValue) \(page)").inserted
        }
        if isNew { whenLeftOut(page, reason) }
    }

    func examined(_ script: ServedScripts.Script) -> AssetFile? {
        guard let patch = patches[script.patchID] else { return nil }
        var check = known.withLockedValue(\.check)
        // What cannot be looked at is not served either.
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
