import PatchStore

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
