import CommandKit
import DeviceOutput
import PatchSync
import Patchline

extension Device {
    /// Writes events into the store's log.
    ///
    /// - Parameter command: the name of the writing command.
    func note(_ events: [DeviceEvent], by command: String) {
        StoreLogWriter(StoreLog(store.root), by: command, now: ProcessEnvironment.now).take(events)
    }
}
