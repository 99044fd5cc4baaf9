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
    /// - Returns: nil for a disk in memory.
    /// - Throws: `lock(.held)` while another process has it.
    package func servingRight() throws(SyncError) -> ServingRight? {
        guard isShared else { return nil }
        try wrapped { () throws(FileError) in try files.makeDirectory(root) }
        do throws(StoreLockError) { return ServingRight(try StoreLock(root.at("serving.lock"))) } catch {
            throw .lock(error)
        }
    }
}
