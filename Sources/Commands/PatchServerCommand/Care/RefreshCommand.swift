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
            "Sign snapshot and timestamp again, and the dial if it is due.",
        discussion: """
            Snapshot and timestamp are valid for seven days, a dial for fourteen; it is
            signed again if less than seven are left. Run this about every six hours, from
            cron or a timer, if no `patchsrv serve` runs. An encrypted online key then
            needs its passphrase in a file or in the environment.

            Also takes the due steps of rollout schedules (`patchsrv rollout --ramp`).

            If the clock is behind the newest signature or behind this program's build,
            nothing is signed. If the clock is right and was ahead at the newest
            signature, --accept-clock signs by it, and makes the audit log accept it too
            (see `patchsrv audit accept-clock`). Devices follow, because each timestamp
            replaces the time of the previous one.

            EXAMPLES
              patchsrv refresh --data /srv/patchline --passphrase-file /etc/patchline/online.pass
              0 */6 * * *  patchsrv refresh --data /srv/patchline --passphrase-file /etc/patchline/online.pass
            """
                + exitCodes(
                    [
                        .done: "signed",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "the published tree does not verify, or the online key is another one, or a wrong passphrase, or "
                            + "the clock is behind",
                        .busy: "another process uses the data folder",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Flag(
        help: "Sign although the clock is behind the newest signature, because it was ahead before."
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
                    let (level, line, _) = RolloutSteps.logLine(result)
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
                "patchsrv init starts one; patchsrv restore BACKUP restores a lost one, and devices continue with it",
            code: .disk
        )
    }
}
