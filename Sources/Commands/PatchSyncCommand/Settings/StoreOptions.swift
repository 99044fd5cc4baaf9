import ArgumentParser
import CommandKit
import DeviceOutput
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import PatchTrust
import SystemPackage

/// The options of every command: the store, and the form of the output.
struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The device's folder (default: PATCHSYNC_STORE, else ./patchline-store).", valueName: "dir")
    )
    var store: String?

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    var device: Device {
        get throws(Failure) {
            do throws(SyncError) {
                let device = try Device(try deviceStore, now: ProcessEnvironment.now)
                warn(of: device)
                return device
            } catch { throw Failure(error) }
        }
    }

    /// Opens the device for an app or an inspection.
    ///
    /// Detects another machine and another build of the app.
    func opened(appBuild: String? = nil) async throws(Failure) -> Device {
        let opening = try await reporting { () throws(SyncError) in
            try await Device.open(
                try deviceStore,
                now: ProcessEnvironment.now,
                machine: Self.machine,
                appBuild: appBuild.flatMap { AppBuild($0) }
            )
        }
        let errors = Console.standardError
        if let settled = opening.settled {
            errors.line(Self.newBuild(settled))
        }
        if let trouble = opening.trouble {
            errors.line("warning: \(printable(trouble.description))")
            errors.line("hint: \(Failure(trouble).hint ?? "the active version keeps running.")")
        }
        warn(of: opening.device)
        return opening.device
    }

    static func newBuild(_ shipped: Selection) -> String {
        "new build of the app: it runs its embedded versions, \(shipped.words)"
    }

    /// Warns of a state that cannot be read, regardless of the command.
    private func warn(of device: Device) {
        (try? device.store.stateFault(of: device.configuration.channel))?.warn()
    }

    /// The machine's identity: PATCHSYNC_MACHINE, for machines such as containers that have no id or share one.
    ///
    /// Otherwise machine-id(5).
    static var machine: MachineIdentity? {
        ProcessEnvironment.environment("PATCHSYNC_MACHINE").map { MachineIdentity($0) }
            ?? MachineIdentity.ofThisMachine()
    }

    var deviceStore: DeviceStore {
        get throws(SyncError) {
            Self.deviceStore(at: path)
        }
    }

    static func deviceStore(at path: FilePath) -> DeviceStore {
        DeviceStore(
            root: path,
            files: disk,
            admitting: KeyAdmission(allowingTestingKeys: ProcessEnvironment.allowsTestingKeys)
        )
    }

    private static var disk: any FileOperations {
        #if DEBUG
        if let faulty = FaultPoint() { return faulty }
        #endif
        return DiskFiles()
    }

    /// The absolute path of the store.
    var path: FilePath { Self.path(store) }

    static func path(_ store: String?) -> FilePath {
        FilePath(argument: store ?? ProcessEnvironment.environment("PATCHSYNC_STORE") ?? "patchline-store")
    }
}

/// The running build of the app.
struct AppBuildOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The app's build. A new build starts over from its embedded files.",
            valueName: "build"
        )
    )
    var appBuild: String?

    func validate() throws {
        if let appBuild, AppBuild(appBuild) == nil { throw ValidationError("--app-build \(AppBuild.rule)") }
    }
}
