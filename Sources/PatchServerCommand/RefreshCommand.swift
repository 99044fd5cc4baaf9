import CommandSupport
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import Terminal

/// `patchsrv refresh`: signs the online roles again.
struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Signs snapshot, timestamp and dial again, so that devices know they are current.",
        discussion: """
            These roles hold for seven days. Run this every six hours or so, from cron or a timer.

            EXAMPLE
              patchsrv refresh --data /srv/patchline --passphrase-file /etc/patchline/online.pass
            """
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("Only this app; else every one of the server.", valueName: "app"))
    var app: String?

    @OptionGroup var passphrase: KeyOptions

    func run() async throws {
        try await reporting {
            let files = DiskFiles()
            let folder = folder.folder
            for app in try apps(in: folder, files) {
                let repository = try AppRepository(app, in: folder)
                let key = try passphrase.key(at: repository.onlineKeyFile)
                let lock = try folder.locked(files: files)
                let done = try repository.refresh(signing: key, at: Surroundings.now())
                lock.release()
                Console.standardOutput.line(
                    "\(app): timestamp \(done.timestamp), snapshot \(done.snapshot), dial \(done.dial), until \(done.expires)"
                )
            }
        }
    }

    private func apps(in folder: ServerFolder, _ files: DiskFiles) throws -> [AppID] {
        guard let app else {
            let all = try folder.allApps(files: files)
            guard !all.isEmpty else { throw Failure.noApps(in: folder) }
            return all
        }
        guard let name = AppID(app) else { throw ValidationError("--app \(AppID.rule)") }
        return [name]
    }
}

extension Failure {
    static func noApps(in folder: ServerFolder) -> Failure {
        Failure("there is no app in \(folder.root)", hint: "start one with patchsrv init", exitCode: .disk)
    }
}
