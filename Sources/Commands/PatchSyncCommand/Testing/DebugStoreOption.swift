import PatchFormat
import ArgumentParser
import CommandKit
import DeviceOutput
import PatchSync
import SystemPackage

/// A store in which developers of the app may run their own scripts.
struct DebugStoreOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The device's folder (default: PATCHSYNC_STORE, else ./patchline-store).", valueName: "dir")
    )
    var store: String?

    func inDebugMode() throws(Failure) -> Device {
        let path = StoreOptions.path(store)
        let device: Device
        do throws(SyncError) {
            device = try Device(StoreOptions.deviceStore(at: path), now: ProcessEnvironment.now)
        } catch { throw Failure(error) }
        guard device.configuration.debug else { throw Failure(notInDebugMode: path) }
        return device
    }
}

extension Failure {
    init(notInDebugMode store: FilePath) {
        self.init(
            "\(store) is not in debug mode: it runs only scripts that its release key signed",
            hint: "`patchsync set --store \(store) --debug` lets local scripts run on this machine",
            code: .refused
        )
    }
}
