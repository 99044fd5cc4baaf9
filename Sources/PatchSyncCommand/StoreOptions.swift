import ArgumentParser
import CommandSupport
import PatchStore
import PatchSync
import SystemPackage
import Terminal

/// What every command needs to know: which store, and how to print.
struct StoreOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The device's folder (or PATCHSYNC_STORE).", valueName: "dir"))
    var store: String?

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    var device: Device {
        get throws(Failure) {
            do throws(SyncError) {
                return try Device(try deviceStore, now: Surroundings.now)
            } catch { throw Failure(error) }
        }
    }

    var deviceStore: DeviceStore {
        get throws(SyncError) {
            DeviceStore(root: path, files: Self.disk)
        }
    }

    private static var disk: any FileOperations {
        #if DEBUG
        if let faulty = FaultPoint() { return faulty }
        #endif
        return DiskFiles()
    }

    private var path: FilePath {
        FilePath(argument: store ?? Surroundings.environment("PATCHSYNC_STORE") ?? "patchline-store")
    }
}
