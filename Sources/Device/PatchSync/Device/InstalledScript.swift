package import Linux
package import PatchChoice
import PatchFormat
import PatchStore
package import SystemPackage

/// A script patch that this device has, and where its bytes lie.
package struct InstalledScript: Equatable, Sendable {
    package let patch: InstalledPatch
    /// Whether it belongs to the selection that waits, not to the one that runs.
    package let isPending: Bool
    /// The verified file; nil where it is missing, altered or no text.
    package let file: FilePath?
}

extension Device {
    /// The scripts of the selection that runs, and those that wait in place of them; no network.
    ///
    /// What has not changed since it was verified is not hashed again.
    package func scripts() throws(SyncError) -> [InstalledScript] {
        let state = try state().machine.state
        var check = IntegrityCheck(store: store, records: store.records())
        var scripts: [InstalledScript] = []
        for (patch, isPending) in state.shownPatches where patch.kind == .script {
            let isIntact = try check.faults(of: patch).isEmpty
            let file = isIntact ? store.file(of: patch) : nil
            scripts.append(InstalledScript(patch: patch, isPending: isPending, file: file))
        }
        return scripts
    }
}

extension SelectionState {
    /// What runs, and what waits in place of it, each by id.
    var shownPatches: [(patch: InstalledPatch, isPending: Bool)] {
        let running = running
        var shown = running?.patches.map { ($0, false) } ?? []
        if case .pending(_, let next) = self {
            shown += next.patches.filter { running?[$0.patchID]?.content != $0.content }.map { ($0, true) }
        }
        return shown
    }
}

extension DeviceStore {
    /// Where the bytes of a script lie; nil for a bundle, which is many files.
    func file(of patch: InstalledPatch) -> FilePath? {
        guard patch.kind == .script else { return nil }
        return (try? place(of: patch.fingerprint.sha256))?.path
    }
}

/// One script that is given to pages.
extension IntegrityCheck {
    /// Where its file lies, when it is the one that was verified; nothing is read of it.
    package func recorded(_ script: InstalledPatch) -> (FileLocation, FileIdentity)? {
        let digest = script.fingerprint.sha256
        guard let place = try? store.place(of: digest), let recorded = recorded(digest, at: place),
            (try? store.files.identity(of: place.path)) == recorded
        else { return nil }
        return (place, recorded)
    }

    /// Compares its digests; nil when it is missing, altered or no text.
    package mutating func examine(_ script: InstalledPatch) throws(SyncError) -> (FileLocation, FileIdentity)? {
        try faults(of: script).isEmpty ? recorded(script) : nil
    }
}

extension [PatchStates] {
    /// - Parameter scripts: what the device has once the sync is over.
    package func with(_ scripts: [InstalledScript]) -> [PatchStates] {
        let files = Dictionary(scripts.map { ($0.patch.label, $0.file) }) { first, _ in first }
        return map { $0.with(files[Label(patchID: $0.patchID, version: $0.version)] ?? nil) }
    }
}
