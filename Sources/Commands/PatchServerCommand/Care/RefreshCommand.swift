import CommandKit
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords

/// `patchsrv refresh`: signs the online roles again.
struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract:
            "Signs snapshot and timestamp again, and the dial where it is due, so that devices know they are current.",
        discussion: """
            Snapshot and timestamp hold for seven days, a dial for fourteen: it is signed again where less than seven are left.
            Run this every six hours or so, from cron or a timer, where no `patchsrv serve` does it. An encrypted online key
            needs its passphrase in a file or in the environment there.

            It takes the steps of rollout schedules that are due, too (`patchsrv rollout --ramp`).

            A clock that is behind the newest signature, or behind the build of this program, signs nothing. If the clock is
            right and was ahead when the newest signature was made, --accept-clock signs by it, and makes the audit log accept
            it too (see `patchsrv audit accept-clock`). Devices follow: each timestamp replaces the time of the one before it.

            EXAMPLES
              patchsrv refresh --data /srv/patchline --passphrase-file /etc/patchline/online.pass
              0 */6 * * *  patchsrv refresh --data /srv/patchline --passphrase-file /etc/patchline/online.pass
            """
                + exitCodes(
                    [
                        .done: "signed",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "the published tree does not verify, or the online key is not its own, or a wrong passphrase, or "
                            + "the clock is behind",
                        .busy: "another process holds the data folder",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Flag(
        help: "Sign although the clock is behind the newest signature: it is right now, and was ahead before."
    )
    var acceptClock = false

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
                let done = try RefreshRoles(
                    of: repository,
                    signing: key,
                    at: ProcessEnvironment.now(),
                    acceptingClock: acceptClock
                ).run()
                lock.release()
                Console.standardOutput.line(
                    "\(app): timestamp \(done.timestamp), snapshot \(done.snapshot), dial \(done.dial), until \(done.expires)"
                )
                guard try files.status(of: folder.recordsFile) != nil else { continue }
                for result in try await Rollouts(folder.operations(key)).advance(app).results {
                    let (level, line, _) = RolloutSteps.told(result)
                    let console = level == .info ? Console.standardOutput : .standardError
                    console.line(printable(level == .info ? "\(app): \(line)" : "warning: \(app): \(line)"))
                }
            }
            // The expiry of tokens is checked with the audit log's time, which this clock wrote.
            if acceptClock, try DiskFiles().status(of: folder.recordsFile) != nil {
                _ = try await self.folder.records().acceptClock(by: .here)
            }
        }
    }
}

extension Failure {
    static func noApps(in folder: ServerFolder) -> Failure {
        Failure(
            "there is no app in \(folder.root)",
            hint:
                "patchsrv init starts one; one that was lost comes back with patchsrv restore BACKUP, which devices go on with",
            code: .disk
        )
    }
}
