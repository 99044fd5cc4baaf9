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

    @OptionGroup var apps: AppOptions
    @OptionGroup var passphrase: KeyOptions

    func run() async throws {
        try await reporting {
            let files = DiskFiles()
            let folder = folder.folder
            for app in try apps.apps(in: folder) {
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
}

extension Failure {
    static func noApps(in folder: ServerFolder) -> Failure {
        Failure("there is no app in \(folder.root)", hint: "start one with patchsrv init", exitCode: .disk)
    }
}
