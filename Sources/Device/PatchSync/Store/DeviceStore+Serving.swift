package import PatchChoice
import PatchFormat
package import PatchStore
import SystemPackage

/// Selections whose files stay because somebody serves them, kept or not.
extension DeviceStore {
    private var serving: FilePath { root.at("serving") }

    /// Keeps the files of a selection from every process's clean-up for as long as the answer lives.
    ///
    /// - Returns: nil where the disk takes nothing; nothing is removed from it either.
    package func keepingServed(_ selection: Selection) -> LiveFile? {
        guard isShared else { return nil }
        return try? LiveFile(holding: selection.json.fileBytes, in: serving)
    }

    /// What is served just now, by any process; nil while one of them is still saying what.
    func servedSelections() throws(SyncError) -> [Selection]? {
        guard isShared else { return [] }
        let found = try wrapped { () throws(FileError) in
            try LiveFile.contents(of: serving, limit: Limits.selection)
        }
        var selections: [Selection] = []
        for bytes in found {
            let document = serving.string
            guard let json = try? JSON.document(bytes, named: document, limit: Limits.selection),
                let fields = try? Fields(json, of: document), let selection = try? Selection(fields)
            else { return nil }
            selections.append(selection)
        }
        return selections
    }
}

/// The right to launch a store's app and to serve its pages: one process of the machine has it at a time.
///
/// The kernel takes it back when the process ends, however it ends. Who only reads the store, or syncs it once, needs none.
package final class ServingRight: Sendable {
    private let lock: StoreLock

    init(_ lock: consuming StoreLock) { self.lock = lock }
}

extension DeviceStore {
    /// Takes the right now or not at all; the store's folder is made where it is missing.
    ///
    /// - Returns: nil for a disk in memory, and for one that takes nothing: what is there is served all the same.
    /// - Throws: `lock(.held)` while another process has it.
    package func servingRight() throws(SyncError) -> ServingRight? {
        guard isShared else { return nil }
        do throws(FileError) { try files.makeDirectory(root) } catch { return nil }
        do throws(StoreLockError) { return ServingRight(try StoreLock(root.at("serving.lock"))) } catch {
            if case .held = error { throw .lock(error) }
            return nil
        }
    }
}
