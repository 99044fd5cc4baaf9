import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ServerRecords
import SystemPackage

/// `patchsrv restore`: restores a server from a backup, with version numbers above all that devices may have seen.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts a backup back, here or on another machine, so that devices go on with it.",
        discussion: """
            Copies a folder that `patchsrv backup` made to a data folder in which there is no server, verifies everything, and
            signs timestamp, snapshot and dial with numbers that are a million above those of the backup. Devices refuse a
            number below one that they know, and nobody can say how many were given after the backup; --above names one
            that is known to be higher still.

            Releases that were published after the backup are not in it, and devices that have them take no older one.
            Publish these releases again, in their order. Where one is lost, make the next with a number above it:
            patchsign release renew RELEASE --above NUMBER, and publish that.

            --in-place is for a data folder that came back in another way: an image of a disk, a copy made by hand. Stop the
            server first.

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
                            "restored, but something of it is damaged: patchsrv check --repair; or a wrong passphrase, and nothing was restored",
                        .malformed: "the folder is no backup",
                        .busy: "another process holds the data folder, or serves it (--in-place)",
                        .conflict: "there is a server in the data folder already",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("The folder that patchsrv backup made.", valueName: "dir"))
    var directory: String?

    @OptionGroup var folder: FolderOptions

    @Flag(help: "The data folder itself is what came back.")
    var inPlace = false

    @Option(help: ArgumentHelp("A timestamp's number that devices are known to have seen.", valueName: "number"))
    var above: Int?

    @Flag(help: "Sign nothing now: the next refresh signs, above all that was seen.")
    var noSign = false

    @OptionGroup var passphrase: KeyOptions

    @Flag(help: "Print what was done as JSON.")
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
            let done: RestoredServer
            if let directory {
                let work = try BackupRestoration(FilePath(argument: directory), to: data)
                if !work.isDescribed {
                    Console.standardError.line(
                        "warning: the backup is of an older patchsrv and has no digests: lost tokens, history or entries of "
                            + "the audit log would not be noticed"
                    )
                }
                done = try await work.run(try opened(work.backup), above: above ?? 0)
            } else {
                guard try !data.allApps(files: DiskFiles()).isEmpty else { throw Failure.noApps(in: data) }
                let alone = try Self.alone(in: data)
                let keys = try opened(data)
                let lock = try data.locked(files: DiskFiles())
                done = try RestoredServer(settling: data, keys, above: above ?? 0)
                try await data.records().commit([], noting: done.event)
                lock.release()
                alone.release()
            }
            show(done)
            guard !done.isWhole else { return }
            guard !json else { throw ResultCode.refused.asError }
            throw Failure(
                "what was restored is damaged: \(Words.count(done.faultCount, "fault"))",
                hint: "patchsrv check --repair mends what it can prove, with --from a folder that has what is missing",
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
            "Not in it is what was done later: releases, dials and parameters, tokens that were revoked, places. Publish "
                + "later releases again, in their order, before anything new."
        )
    }
}
