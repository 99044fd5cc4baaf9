import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseService

/// `patchsrv status`: shows whether something must be signed soon.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Check that published files verify and stay valid, and show every channel; for cron.",
        discussion: """
            Same as GET /readyz of a running server, except that only the server knows
            whether its passphrase opens the online key. Roles that people sign (root,
            targets, channels) are reported the given time before they expire. Roles that
            the server signs are reported two days before, because then its signing has
            stopped.

            EXAMPLES
              patchsrv status --data /srv/patchline
              patchsrv status --data /srv/patchline --within 30d --json
            """
                + exitCodes([
                    .done: "everything stays valid for longer",
                    .refused: "a published tree does not verify, or has lost its timestamp",
                    .malformed: "the configuration file is malformed",
                    .disk: "there is no app in the folder, or no folder",
                    .due: "something has expired or must be signed soon, or the disk is nearly full",
                ])
    )

    @OptionGroup var folder: FolderOptions

    @Option(
        name: [.long, .customLong("ready-within")],
        help: ArgumentHelp("Report a role this long before it expires: 30d, 12h (default: 7d).", valueName: "time")
    )
    var within: DurationArgument?

    @Option(
        help: ArgumentHelp("Report less free disk space than this: 500MB (default: 1GB).", valueName: "bytes")
    )
    var readyFree: ByteCountArgument?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let folder = folder.folder
            let check = ReadinessCheck(folder, within: within, free: readyFree)
            let readiness = try await check.answer()
            if readiness.status == .empty { throw Failure.noApps(in: folder) }
            let channels = readiness.channels(in: folder)
            // The records may belong to another user. The published tree is checked anyway.
            let rollouts = (try? await Self.rollouts(in: folder)) ?? []
            let pending = (try? folder.pendingOptimizations()) ?? []
            if json {
                let rows: JSON? = rollouts.isEmpty ? nil : .array(rollouts.map(\.json))
                Console.standardOutput.line(
                    readiness.json(with: channels).adding([("rollouts", rows)]).optimizing(pending).pretty()
                )
            } else {
                let now = ProcessEnvironment.now()
                readiness.write(to: .standardOutput, now: now)
                if !channels.isEmpty {
                    Console.standardOutput.line()
                    ChannelOverview.table(channels, namesApp: readiness.apps.count > 1, at: now)
                        .write(to: .standardOutput)
                }
                for schedule in rollouts {
                    Console.standardOutput.line(printable("\(schedule.app): \(RolloutSteps.line(schedule))"))
                }
                for row in pending { Console.standardOutput.line("\(row.app): \(row.pending.words)") }
            }
            switch readiness.status {
            case .ready: return
            case .signSoon, .diskNearlyFull, .keyLocked, .clockBehind, .expired: throw ResultCode.due.asError
            case .unverified: throw ResultCode.refused.asError
            case .empty: throw Failure.noApps(in: folder)
            }
        }
    }
}

extension StatusCommand {
    /// The running schedules of all apps.
    private static func rollouts(in folder: ServerFolder) async throws -> [RolloutSchedule] {
        guard try DiskFiles().status(of: folder.recordsFile) != nil else { return [] }
        let rollouts = Rollouts(try folder.operations())
        var running: [RolloutSchedule] = []
        for app in try folder.allApps(files: DiskFiles()) {
            running += try await rollouts.schedules(in: app).filter(\.isRunning)
        }
        return running
    }
}

extension Readiness {
    fileprivate func write(to console: Console, now: UTCTime) {
        for lowResource in lowResources {
            console.line("the disk is nearly full: it is short of \(lowResource.rawValue)")
        }
        for app in apps {
            console.line("\(app.app): \(app.status.rawValue)")
            if let fault = app.fault {
                console.line("  \(printable(fault))")
                console.line("  patchsrv check names each file; check --repair restores those that it can verify")
            }
            if let clock = app.clock {
                console.line("  \(clock): nothing is signed")
                console.line("  \(clock.hint)")
            }
            for role in app.due {
                let left = role.expires.seconds - now.seconds
                let end = left > 0 ? "ends in \(DurationText(.seconds(left)))" : "expired"
                let by = role.keeper == .holders ? "its key holders" : "patchsrv refresh"
                console.line("  \(role.role) \(role.version) \(end), at \(role.expires): signed again by \(by)")
            }
        }
    }
}
