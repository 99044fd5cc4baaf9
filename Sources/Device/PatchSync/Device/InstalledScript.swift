package import Linux
package import PatchChoice
import PatchFormat
import PatchStore
package import SystemPackage

/// An installed script patch and the file of its bytes.
package struct InstalledScript: Equatable, Sendable {
    package let patch: InstalledPatch
    /// Whether it belongs to the pending selection, not to the active one.
    package let isPending: Bool
    /// The verified file, or nil if it is missing, altered or not valid text.
    package let file: FilePath?
}

extension Device {
    /// The scripts of the active selection and of the pending one, without network access.
    ///
    /// Verified files that are unchanged are not hashed again.
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
    /// The patches of the active selection and those pending in place of them, sorted by id.
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
    /// The file of a script, or nil for a bundle, which has many files.
    func file(of patch: InstalledPatch) -> FilePath? {
        guard patch.kind == .script else { return nil }
        return (try? place(of: patch.fingerprint.sha256))?.path
    }
}

/// Checks of one script that is served to pages.
extension IntegrityCheck {
    /// The location of the script's file if it is the verified one.
    ///
    /// The file is not read.
    package func recorded(_ script: InstalledPatch) -> (FileLocation, FileIdentity)? {
        let digest = script.fingerprint.sha256
        guard let place = try? store.place(of: digest), let recorded = recorded(digest, at: place),
            (try? store.files.identity(of: place.path)) == recorded
        else { return nil }
        return (place, recorded)
    }

    /// Compares the script's digests.
    ///
    /// Returns nil if it is missing, altered or not valid text.
    package mutating func examine(_ script: InstalledPatch) throws(SyncError) -> (FileLocation, FileIdentity)? {
        try faults(of: script).isEmpty ? recorded(script) : nil
    }
}

extension [PatchStates] {
    /// - Parameter scripts: The device's scripts at the end of the sync.
    package func with(_ scripts: [InstalledScript]) -> [PatchStates] {
        let files = Dictionary(scripts.map { ($0.patch.label, $0.file) }) { first, _ in first }
        return map { $0.with(files[Label(patchID: $0.patchID, version: $0.version)] ?? nil) }
    }
}
