import PatchFormat
import PatchStore
import DeviceOutput
import PatchSync
import CommandKit

/// Returns the right to serve a store.
///
/// It is held until the result is released.
func servingLock(of store: DeviceStore) throws(Failure) -> ServingLock? {
    do throws(SyncError) { return try store.servingLock() } catch .lock(.held(_, let process)) {
        throw .servedAlready(by: process, port: store.runningServers.first { $0.process == process }?.port)
    } catch { throw Failure(error) }
}
