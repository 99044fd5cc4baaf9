package import PatchChoice
import PatchFormat
package import PatchStore
import SystemPackage

/// Selections whose files stay because a process serves them, kept or not.
extension DeviceStore {
    private var serving: FilePath { root.at("serving") }

    /// Protects the files of a selection from every process's clean-up for as long as the returned value exists.
    ///
    /// - Returns: nil if the disk is not writable. No file is removed from it either.
    package func keepingServed(_ selection: Selection) -> LiveFile? {
        guard isShared else { return nil }
        return try? LiveFile(holding: selection.json.fileBytes, in: serving)
    }

    /// The selections that any process serves now, or nil while a process is still writing its own.
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

/// The right to launch a store's app and to serve its pages.
///
/// Only one process of the machine can hold it.
///
/// The kernel releases it when the process ends for any reason. Reading the store, or syncing it once, does not require it.
package final class ServingLock: Sendable {
    private let lock: StoreLock

    init(_ lock: consuming StoreLock) { self.lock = lock }
}

extension DeviceStore {
    /// Takes the right at once, or throws.
    ///
    /// Creates the store's folder if it is missing.
    ///
    /// - Returns: nil for a disk in memory or a disk that is not writable. The installed version can be served all the same.
    /// - Throws: `lock(.held)` while another process has it.
    package func servingLock() throws(SyncError) -> ServingLock? {
        guard isShared else { return nil }
        do throws(FileError) { try files.makeDirectory(root) } catch { return nil }
        do throws(StoreLockError) { return ServingLock(try StoreLock(root.at("serving.lock"))) } catch {
            if case .held = error { throw .lock(error) }
            return nil
        }
    }
}
