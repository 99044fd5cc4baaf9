import PatchFormat
import PatchStore
import DeviceOutput
import PatchSync
import CommandKit

/// Returns the right to serve a store.
///
/// It is held until the result is released.
func servingRight(of store: DeviceStore) throws(Failure) -> ServingRight? {
    do throws(SyncError) { return try store.servingRight() } catch .lock(.held(_, let process)) {
        throw .servedAlready(by: process, port: store.runningServers.first { $0.process == process }?.port)
    } catch { throw Failure(error) }
}
