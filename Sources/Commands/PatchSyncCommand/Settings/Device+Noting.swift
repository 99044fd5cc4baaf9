import CommandKit
import DeviceOutput
import PatchSync
import Patchline

extension Device {
    /// Says in the store's log what somebody did.
    ///
    /// - Parameter command: by which command.
    func note(_ event: LocalServer.Event, by command: String) {
        StoreLogWriter(StoreLog(store.root), by: command, now: ProcessEnvironment.now).take(event)
    }
}
