import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv restore`: restores a server from a backup, with version numbers above all that devices may have seen.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup, here or on another machine, so that devices continue with it.",
        discussion: """
            Copies a folder of `patchsrv backup` to a data folder without a server,
            verifies everything, and signs timestamp, snapshot and dial with numbers a
            million above those of the backup. Devices reject numbers below the known
            ones, and the numbers given after the backup are unknown. If a higher number
            is known, pass it with --above.

            Releases published after the backup are not in it, and devices that have them
            accept no older ones. Publish these releases again, in their order. If one is
            lost, create the next with a number above it: patchsign release renew
            RELEASE --above NUMBER, and publish that.

            Use --in-place for a data folder that was restored in another way: a disk
            image, a manual copy. Stop the server first.

            EXAMPLES
              patchsrv restore /backup/patchline-2026-11-20 --data /srv/patchline --passphrase-file /etc/patchline/online.pass
              patchsrv restore --in-place --data /srv/patchline --passphrase-file /etc/patchline/online.pass
              patchsrv restore /backup/patchline-2026-11-20 --data /srv/patchline --no-sign
            """
                + exitCodes(
                    [
                        .done: "restored",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "restored with damaged files: patchsrv check --repair; or a wrong passphrase, and nothing was restored",
                        .malformed: "the folder is not a backup",
                        .busy: "another process uses the data folder, or serves it (--in-place)",
                        .conflict: "the data folder already contains a server",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("Folder written by patchsrv backup.", valueName: "dir"))
    var directory: String?

    @OptionGroup var folder: FolderOptions

    @Flag(help: "The data folder itself was restored.")
    var inPlace = false

    @Option(help: ArgumentHelp("The number of a timestamp that devices have seen.", valueName: "number"))
    var above: Int?

    @Flag(help: "Sign nothing now. The next refresh signs, above all seen numbers.")
    var noSign = false

    @OptionGroup var passphrase: KeyOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard (directory == nil) == inPlace else {
            throw ValidationError("a backup is needed, or --in-place; not both")
        }
        guard above.map((1...(1 << 52)).contains) ?? true else {
            throw ValidationError("--above must be from 1 to \(1 << 52)")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let data = folder.folder
            let allowed = ProcessEnvironment.allowsTestingKeys
            let done: RestoredServer
            if let directory {
                let work = try RestoreBackup(FilePath(argument: directory), to: data, allowsTestingKeys: allowed)
                if !work.isDescribed {
                    Console.standardError.line(
                        "warning: the backup is of an older patchsrv and has no digests: lost tokens, history or entries of "
                            + "the audit log would not be noticed"
                    )
                }
                done = try await work.run(
                    try opened(work.backup),
                    above: above ?? 0,
                    by: .here,
                    clock: ProcessEnvironment.now,
                    showing: BackupCommand.showingCopy
                )
            } else {
                guard try !data.allApps(files: DiskFiles()).isEmpty else { throw Failure.noApps(in: data) }
                let alone = try Self.alone(in: data)
                let keys = try opened(data)
                let lock = try data.locked(files: DiskFiles())
                done = try RestoredServer(
                    settling: data,
                    keys,
                    above: above ?? 0,
                    allowsTestingKeys: allowed,
                    clock: ProcessEnvironment.now
                )
                try await data.records().commit([], noting: done.event(by: .here))
                lock.release()
                alone.release()
            }
            show(done)
            guard !done.isWhole else { return }
            guard !json else { throw ResultCode.refused.asError }
            throw Failure(
                "the restored files are damaged: \(Words.count(done.faultCount, "fault"))",
                hint:
                    "patchsrv check --repair repairs the files that it can verify; --from names a folder that has the missing ones",
                code: .refused
            )
        }
    }

    /// Locks the folder against a running server, which would sign below the numbers that the restoration uses.
    private static func alone(in data: ServerFolder) throws -> StoreLock {
        do throws(StoreLockError) { return try StoreLock(data.serving) } catch {
            switch error {
            case .held(_, let pid): throw served(data, by: pid)
            case .file(let error): throw error
            }
        }
    }

    static func served(_ data: ServerFolder, by process: Int?) -> Failure {
        Failure(
            "a patchsrv serve runs over \(data.root)\(process.map { ", as process \($0)" } ?? "")",
            hint: "stop it, restore, and start it again; nothing was changed",
            code: .busy
        )
    }

    /// The keys, or nil if nothing is signed.
    ///
    /// They are opened first, so that a wrong passphrase is reported before anything is copied.
    private func opened(_ folder: ServerFolder) throws -> [AppID: OnlineKey]? {
        guard !noSign else { return nil }
        var keys: [AppID: OnlineKey] = [:]
        for app in try folder.allApps(files: DiskFiles()) {
            keys[app] = try passphrase.key(at: try AppRepository(app, in: folder).onlineKeyFile)
        }
        return keys
    }

    private func show(_ done: RestoredServer) {
        let console = Console.standardOutput
        if json { return console.line(done.json.pretty()) }
        for app in done.apps { for line in app.lines(made: done.made) { console.line(printable(line)) } }
        if let audit = done.audit { console.line(audit.line) }
        console.line(
            "Later changes are not in it: releases, dials and parameters, revoked tokens, places. Publish "
                + "later releases again, in their order, before anything new."
        )
    }
}

extension RestoredServer {
    var json: JSON {
        .fields([
            ("whole", .bool(isWhole)), ("apps", .array(apps.map(\.json))), ("audit", audit.map(\.json)),
        ])
    }
}

extension RestoredServer.App {
    var json: JSON {
        numbers.adding([
            ("signedBefore", restored.signedAt.map { .text($0.description) }),
            ("timestamp", signed.map { .integer($0.timestamp) }), ("snapshot", signed.map { .integer($0.snapshot) }),
            ("dial", signed.map { .integer($0.dial) }), ("expires", signed.map { .text($0.expires.description) }),
            (
                "faults",
                .array(
                    report.faults.filter(\.rule.isFault).map { .text("\($0.path): \($0.rule.rawValue): \($0.detail)") }
                )
            ),
        ])
    }

    /// - Parameter made: The time of the backup, or nil if the folder was restored in another way.
    func lines(made: UTCTime?) -> [String] {
        let releases = channels.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
        let time = (made ?? restored.signedAt).map { ", as it was at \($0)" } ?? ""
        var lines = ["restored \(restored.app)\(time): \(releases.isEmpty ? "nothing published yet" : releases)"]
        if let signed {
            lines.append(
                "  signed above the versions that devices may have: timestamp \(signed.timestamp), until \(signed.expires)"
            )
        } else {
            lines.append(
                "  nothing was signed\(unsigned.map { " (\($0))" } ?? ""): the next patchsrv refresh signs above "
                    + "\(restored.above)"
            )
        }
        lines += report.faults.filter(\.rule.isFault).map { "  ✗ \($0.path): \($0.rule.rawValue): \($0.detail)" }
        return lines
    }
}
