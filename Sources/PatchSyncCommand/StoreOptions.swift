import ArgumentParser
import Glibc
import PatchFormat
import PatchStore
import PatchSync
import PatchTrust
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
                return try Device(try deviceStore, now: SystemTime.now)
            } catch { throw Failure(error) }
        }
    }

    var deviceStore: DeviceStore {
        get throws(SyncError) {
            DeviceStore(root: path, files: DiskFiles())
        }
    }

    private var path: FilePath {
        let text = store ?? Environment["PATCHSYNC_STORE"] ?? "patchline-store"
        let path = FilePath(text)
        return path.isAbsolute ? path : FilePath(Environment.workingDirectory).pushing(path)
    }
}

/// What the process was given.
enum Environment {
    static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    static var workingDirectory: String {
        guard let buffer = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(buffer) }
        return unsafe String(cString: buffer)
    }

    static var allowsTestingKeys: Bool { self[TestingKeys.permission] == "1" }
}

enum SystemTime {
    @Sendable static func now() -> UTCTime {
        UTCTime(seconds: Glibc.time(nil))
    }
}

extension FilePath {
    /// A path from the command line: absolute, or below the working directory.
    init(argument: String) {
        let path = FilePath(argument)
        self = path.isAbsolute ? path : FilePath(Environment.workingDirectory).pushing(path)
    }
}
