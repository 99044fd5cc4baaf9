import ArgumentParser
import Gateways
import PatchFormat

/// The settings in a sync file of JSPatch's platform, besides its package.
struct SyncFileOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Target this many tenths of all devices (g); 0 is written as p.", valueName: "0-10"))
    var gray: Int?

    @Option(help: ArgumentHelp("Target devices that match this condition (c).", valueName: "'ios>=9.0&&ismale==1'"))
    var condition: String?

    @Option(help: ArgumentHelp("The version for devices that do not match --condition (cv).", valueName: "N"))
    var otherwise: Int?

    @Flag(help: "Make devices do nothing (p).")
    var paused = false

    @Flag(help: "Devices run the package only from their next launch after its installation (r).")
    var runLater = false

    /// - Parameter file: The previous sync file. Only its version is kept.
    func syncFile(after file: PlatformSyncFile) throws -> PlatformSyncFile {
        guard let version = file.version else { return PlatformSyncFile(version: nil) }
        return try syncFile(naming: version)
    }

    var isUsed: Bool { gray != nil || condition != nil || otherwise != nil || paused || runLater }

    func syncFile(naming version: LoaderVersion) throws -> PlatformSyncFile {
        var file = PlatformSyncFile(version: version)
        (file.isPaused, file.runsLater) = (paused, runLater)
        if let gray {
            guard let share = PlatformShare(gray) else { throw ValidationError("--gray \(PlatformShare.rule)") }
            guard condition == nil else { throw ValidationError("with --gray clients do not look at --condition") }
            // Some clients apply g 0 to all devices, so the file pauses the version instead, as a release does.
            if gray == 0 { file.isPaused = true } else { file.share = share }
        }
        if let condition {
            do throws(Condition.Problem) { file.condition = try Condition(condition).text } catch {
                throw ValidationError("--condition \(error)")
            }
        }
        if let otherwise {
            guard condition != nil else { throw ValidationError("--otherwise needs --condition") }
            guard let other = LoaderVersion(otherwise) else {
                throw ValidationError("--otherwise \(LoaderVersion.rule)")
            }
            file.otherwise = other
        }
        return file
    }
}
