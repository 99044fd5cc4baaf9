package import PatchChoice
import PatchFormat

extension Device {
    /// Files of a selection that are missing, altered or cannot be read on this device, in words.
    ///
    /// What is the file that was verified is not hashed again. A script that is no text is none of them: it was made so.
    package func damage(to selection: Selection) -> [String] {
        var check = IntegrityCheck(store: store, records: store.records())
        return selection.patches.flatMap { patch in
            do throws(SyncError) {
                return try check.faults(of: patch).filter { $0.wrong != .unreadable }.map(\.file)
            } catch { return [patch.label.description] }
        }
    }
}
