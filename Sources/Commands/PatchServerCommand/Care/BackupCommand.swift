import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv backup`: copies the whole server.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the whole server to a folder, while it runs.",
        discussion: """
            The copy is the state of one moment: published trees, app records with online
            keys (encrypted if they are here), drafts, and records.sqlite with tokens,
            history, audit log, places and answers. Serving and publishing continue; only
            the last moment blocks publishing. Unfinished uploads are left out and must
            start again.

            A folder with this name is a complete backup; an interrupted one is called
            DIR.part. `patchsrv restore` restores and verifies it, and signs with numbers
            above all that devices may have seen since.

            EXAMPLES
              patchsrv backup /backup/patchline-$(date +%F) --data /srv/patchline
              patchsrv backup /backup/patchline-$(date +%F) --data /srv/patchline --json
            """
                + exitCodes(
                    [
                        .done: "copied",
                        .refused:
                            "published files are damaged: copied as they are, or not at all if an app lost its timestamp",
                        .disk: "a file could not be read or written, or there is no app",
                        .busy: "another process used the data folder for a minute",
                        .conflict: "the folder exists already",
                    ]
                )
    )

    @Argument(help: ArgumentHelp("The new folder, outside the server's.", valueName: "dir"))
    var directory: String

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            let (folder, target) = (folder.folder, FilePath(argument: directory))
            guard try !folder.allApps(files: DiskFiles()).isEmpty else { throw Failure.noApps(in: folder) }
            let allowed = ProcessEnvironment.allowsTestingKeys
            let work = try MakeBackup(of: folder, at: target, allowsTestingKeys: allowed)
            let made = try await work.run(clock: ProcessEnvironment.now, showing: Self.showingCopy)
            show(made, target)
            // The error keeps the operator from replacing a good copy by a damaged one.
            guard !made.faults.isEmpty else { return }
            guard !json else { throw ResultCode.refused.asError }
            throw Failure(
                "the backed-up files are damaged: \(Words.count(made.faults.count, "fault", "faults"))",
                hint: "keep the earlier backups; patchsrv check --repair repairs the server",
                code: .refused
            )
        }
    }

    private func show(_ made: MakeBackup.Made, _ target: FilePath) {
        let counts: [(String, JSON?)] = [
            ("files", .integer(made.fileCount)), ("bytes", .integer(made.bytes)),
            ("faults", .array(made.faults.map(JSON.text))),
        ]
        guard !json else { return Console.standardOutput.line(made.header.json.adding(counts).pretty()) }
        let apps = made.header.apps.map(\.app.text).joined(separator: ", ")
        Console.standardOutput.line(
            "backed up \(apps) to \(printable(target.string)): \(made.fileCount) files, \(ByteText(made.bytes))"
        )
        if let audit = made.header.audit { Console.standardOutput.line(audit.line) }
        for fault in made.faults { Console.standardOutput.line(printable("  ✗ \(fault)")) }
    }

    /// Runs a copy with a progress line.
    static func showingCopy(
        _ copy: ((_ done: Int, _ of: Int) -> Void) throws(ServerError) -> Void
    ) throws(ServerError) {
        var progress: ProgressReport?
        do throws(ServerError) {
            try copy { done, total in
                if progress == nil { progress = ProgressReport("Copying", total: total, unit: .items) }
                progress?.update(to: done)
            }
            progress?.finish()
        } catch {
            progress?.abandon()
            throw error
        }
    }
}

extension BackupHeader.AuditHead {
    /// The line with the newest hash, so that it can be recorded elsewhere and compared later.
    var line: String { "audit log: \(Words.count(number, "entry", "entries")), the newest has the hash \(hash.hex)" }
}
