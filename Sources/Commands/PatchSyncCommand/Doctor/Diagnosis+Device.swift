import CommandKit
import DeviceOutput
import Linux
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import PatchTrust
import SystemPackage

/// The checks of a device's machine. Each computes a verdict from facts.
extension Diagnosis.Line {
    /// The largest accepted difference of two clocks.
    private static let clockSlack = Duration.minutes(5)
    /// With less free space than this, no version can be downloaded.
    private static let noSpace = 1_000_000
    private static let fewFiles = 100

    init(_ subject: String, _ code: DoctorCode, _ verdict: Diagnosis.Verdict, _ finding: String, hint: String? = nil) {
        self.init(subject, code: code.rawValue, verdict, finding, hint: hint)
    }

    /// Returns the line with the name of its store, if there are several.
    func of(_ store: String) -> Diagnosis.Line {
        Diagnosis.Line("\(store) \(subject)", code: code, verdict, finding, hint: hint)
    }

    /// - Parameter failure: The reason why the settings of `patchsync run` cannot be read.
    static func settings(_ failure: Failure) -> Diagnosis.Line {
        let hint = failure.hint ?? "the page \"Running\" describes it"
        return Diagnosis.Line("settings", .settingsUnreadable, .fault, failure.message, hint: hint)
    }

    /// - Parameter error: The reason why the store could not be opened.
    static func store(_ error: SyncError) -> Diagnosis.Line {
        let failure = Failure(error)
        if case .noStore = error {
            return Diagnosis.Line("store", .noStore, .fault, failure.message, hint: failure.hint)
        }
        return Diagnosis.Line(
            "store",
            .settingsUnreadable,
            .fault,
            failure.message,
            hint: failure.hint ?? "restore config.json from a copy, or make a store in another folder"
        )
    }

    static func store(_ configuration: DeviceConfiguration) -> Diagnosis.Line {
        Diagnosis.Line("store", .ok, "\(configuration.app), channel \(configuration.channel)")
    }

    /// - Parameter owner: The name of the folder's owner.
    static func folder(
        _ status: FileStatus?,
        canWrite: Bool,
        isReadOnly: Bool = false,
        owner: String
    ) -> Diagnosis.Line {
        guard !isReadOnly else {
            return Diagnosis.Line(
                "folder",
                .notWritable,
                .fault,
                "its file system is mounted read-only: the installed version runs, and no new one is downloaded",
                hint: "mount it with write access, or move the store to a partition that has it"
            )
        }
        guard canWrite else {
            return Diagnosis.Line(
                "folder",
                .notWritable,
                .fault,
                "this user may not write to it",
                hint: "run patchsync as \(owner), whose folder it is: runuser -u \(owner) -- patchsync"
            )
        }
        guard (status?.permissions.rawValue ?? 0) & 0o022 == 0 else {
            return Diagnosis.Line(
                "folder",
                .openToOthers,
                .fault,
                "other users may change it, and with it the root of trust",
                hint: "chmod -R go-w it"
            )
        }
        return Diagnosis.Line("folder", .ok, "it can be written to")
    }

    /// - Parameter folder: The store's folder.
    static func owners(_ files: ForeignFiles, in folder: FilePath) -> Diagnosis.Line {
        Diagnosis.Line("owners", .otherOwner, .fault, files.finding, hint: files.hint(for: folder))
    }

    static func state(_ fault: StateFault?) -> Diagnosis.Line {
        guard let fault else { return Diagnosis.Line("state", .ok, "it can be read") }
        return Diagnosis.Line(
            "state",
            .stateDamaged,
            .warning,
            fault.description,
            hint: "patchsync sync chooses again; check the disk, because this file was changed or lost"
        )
    }

    /// - Parameter error: The reason why the device's state cannot be determined.
    static func state(_ error: SyncError) -> Diagnosis.Line {
        let failure = Failure(error)
        return Diagnosis.Line(
            "state",
            .stateDamaged,
            .fault,
            failure.message,
            hint: failure.hint ?? Failure.storeRepair
        )
    }

    /// - Parameter fault: The fault of the maintenance windows' time zone.
    static func windows(_ fault: ZoneFault?) -> Diagnosis.Line? {
        guard let fault else { return nil }
        return Diagnosis.Line(
            "windows",
            .zoneUnreadable,
            .warning,
            "\(fault); new versions wait until it can be read",
            hint: fault.hint
        )
    }

    /// - Parameter failure: The last sync's failure, or nil if it succeeded.
    static func sync(_ failure: SyncFailure?, at now: UTCTime) -> Diagnosis.Line? {
        guard let failure else { return nil }
        return Diagnosis.Line(
            "sync",
            .syncFailed,
            .warning,
            "\(failure.sentence(at: now)): \(failure.text)",
            hint: "the other lines may name the cause; patchsync sync tries again now"
        )
    }

    static func machine(isOther: Bool) -> Diagnosis.Line {
        guard isOther else { return Diagnosis.Line("machine", .ok, "the one that the store was made on") }
        return Diagnosis.Line(
            "machine",
            .copied,
            .warning,
            "the store was made on another machine, and copied here",
            hint:
                "the next start gives it another device id; pages' host and token are the copied ones: see \"Devices\""
        )
    }

    static func appBuild(isOther: Bool) -> Diagnosis.Line? {
        guard isOther else { return nil }
        return Diagnosis.Line(
            "app build",
            .appBuild,
            .warning,
            "the app's build is not the one of the store",
            hint: "the next start begins with the versions embedded in that build and removes those of the other one"
        )
    }

    /// - Parameters:
    ///   - stored: The bytes of all stored files.
    ///   - noRoom: The versions that the last sync rejected for lack of space.
    static func disk(_ space: DiskSpace, stored: Int, noRoom: [OversizedVersion] = []) -> Diagnosis.Line {
        let free = "\(ByteText(space.freeBytes)) free"
        if let files = space.freeFiles, files < fewFiles {
            return Diagnosis.Line(
                "disk",
                .diskFull,
                .fault,
                "room for \(Words.count(files, "more file"))",
                hint: "remove files elsewhere on this disk; the active version keeps running"
            )
        }
        guard space.freeBytes >= noSpace else {
            let hint = "make room on this disk; the active version keeps running"
            return Diagnosis.Line("disk", .diskFull, .fault, free, hint: hint)
        }
        if let version = noRoom.first {
            return Diagnosis.Line(
                "disk",
                .noRoom,
                .fault,
                version.words,
                hint: "make room on this disk; the next sync installs it"
            )
        }
        guard space.freeBytes >= stored else {
            return Diagnosis.Line(
                "disk",
                .diskLow,
                .warning,
                "\(free), and an update that changes every file needs \(ByteText(stored))",
                hint: "make room on this disk, or patchsync set --keep fewer versions"
            )
        }
        return Diagnosis.Line("disk", .ok, free)
    }

    /// - Parameter clockTime: The time of the server's clock. It is not signed, so it is only a hint.
    static func clock(_ now: UTCTime, _ trust: Device.HeldTrust?, clockTime: UTCTime?) -> Diagnosis.Line {
        let hint = "set it, and keep it right with a time service"
        if let trust, let past = [trust.signedAt, trust.build].compactMap(\.self).max(), past > now.adding(clockSlack) {
            return Diagnosis.Line("clock", .clockBehind, .fault, "it shows \(now), but it is past \(past)", hint: hint)
        }
        if let clockTime, clockTime > now.adding(clockSlack) || now > clockTime.adding(clockSlack) {
            return Diagnosis.Line(
                "clock",
                .clockDiffers,
                .warning,
                "it shows \(now), and the server's clock \(clockTime)",
                hint: "\(hint); one of the two is wrong"
            )
        }
        return Diagnosis.Line("clock", .ok, "\(now)")
    }

    static func root(_ trust: Result<Device.HeldTrust, SyncError>, difference: String?, at now: UTCTime)
        -> Diagnosis.Line
    {
        switch trust {
        case .failure(.file(.notFound)):
            return Diagnosis.Line(
                "root",
                .rootMissing,
                .fault,
                "the root of trust is missing",
                hint:
                    "restore trust/root.json from a copy, or make the store again: nothing new is installed without it"
            )
        case .failure(let error):
            let hint =
                "restore trust/root.json from a copy, or make the store again: nothing new is installed under this one"
            return Diagnosis.Line("root", .rootUnreadable, .fault, Failure(error).message, hint: hint)
        case .success(let trust):
            if let difference {
                return Diagnosis.Line(
                    "root",
                    .rootDiffers,
                    .fault,
                    "the app embeds another: \(difference)",
                    hint: "the store follows its own; one for the other app is made in another folder"
                )
            }
            guard trust.rootExpires > now else {
                return Diagnosis.Line(
                    "root",
                    .rootExpired,
                    .warning,
                    "version \(trust.rootVersion) expired at \(trust.rootExpires); the active version keeps running",
                    hint: "a sync downloads the next one, once its key holders have signed it"
                )
            }
            return Diagnosis.Line("root", .ok, "version \(trust.rootVersion), until \(trust.rootExpires)")
        }
    }

    /// - Parameter variables: The names of the proxy variables that are set.
    static func proxy(_ variables: [String]) -> Diagnosis.Line? {
        guard !variables.isEmpty else { return nil }
        return Diagnosis.Line(
            "proxy",
            .proxySet,
            .warning,
            "the environment names one (\(variables.joined(separator: ", "))), and patchsync asks its servers directly",
            hint:
                "if only the proxy has internet access, allow this device to reach the server, or run a mirror on this side"
        )
    }

    /// The owner of the port of the app's pages.
    enum PageServer: Equatable, Sendable {
        case unused
        case ours(process: Int)
        case another(PortHolder)
        case unusable(String)
    }

    /// - Parameters:
    ///   - isNew: Whether the app has not been started yet.
    ///   - isInFile: Whether the settings of `patchsync run` contain the store.
    static func port(_ port: Int, isNew: Bool, isInFile: Bool, _ owner: PageServer) -> Diagnosis.Line {
        switch owner {
        case .unused where port == 0: return Diagnosis.Line("port", .ok, "any free one, at each start")
        case .unused where isNew:
            return Diagnosis.Line("port", .ok, "\(port) is free, and the app gets it at the first start")
        case .unused: return Diagnosis.Line("port", .ok, "\(port) is free")
        case .ours(let process): return Diagnosis.Line("port", .ok, "process \(process) serves this store on \(port)")
        case .another(let holder):
            let hint =
                isInFile || holder.isStore
                ? Failure.portTaken(port, by: holder).hint
                : "end that program, or give the store another port (serve --port, or `port:` in the settings file of "
                    + "`patchsync run`). Pages on another port begin with empty storage."
            return Diagnosis.Line(
                "port",
                .portTaken,
                .fault,
                "\(holder.words) uses \(port), which is the app's",
                hint: hint
            )
        case .unusable(let reason):
            return Diagnosis.Line(
                "port",
                .portTaken,
                .fault,
                "\(port): \(reason)",
                hint: "check this machine's loopback interface"
            )
        }
    }

    static let noPages = Diagnosis.Line("port", .ok, "the settings file turns pages off")

    /// - Parameter limit: The limit of this user's inotify instances, or nil if unknown.
    static func watches(areLeft: Bool, limit: Int?) -> Diagnosis.Line {
        guard !areLeft else { return Diagnosis.Line("watches", .ok, "the system reports changed files") }
        return Diagnosis.Line(
            "watches",
            .noWatches,
            .warning,
            "this user has no inotify instance left\(limit.map { " of \($0)" } ?? "")",
            hint: "sysctl fs.inotify.max_user_instances=\((limit ?? 128) * 4), or end the process that uses so many"
        )
    }
}
