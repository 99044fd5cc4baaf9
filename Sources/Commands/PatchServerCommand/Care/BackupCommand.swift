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
            let (files, folder) = (DiskFiles(), folder.folder)
            let target = FilePath(argument: directory)
            let apps = try folder.allApps(files: files)
            guard !apps.isEmpty else { throw Failure.noApps(in: folder) }
            try Self.check(target, beside: folder.root)
            try Self.checkNoneIsLost(of: folder)
            let half = FilePath(target.string + ".part")
            try files.removeTree(half)
            try files.makeDirectory(half)
            var copy = ServerCopy(folder.root, to: half, files: files)
            try Self.showing("Copying") { progress throws(ServerError) in try copy.bring(progress: progress) }
            let lock = try await folder.locked(waitingUpTo: .seconds(60))
            try copy.bring()
            let audit = try await Self.backUpRecords(of: folder, to: half.at(BackedUpFile.records))
            var rows: [BackupHeader.App] = []
            for app in apps { rows.append(BackupHeader.App(try PublishedState(of: AppRepository(app, in: folder)))) }
            lock.release()
            let header = BackupHeader(
                made: ProcessEnvironment.now(),
                apps: rows,
                files: try BackedUpFile.all(in: half, files: files),
                audit: audit
            )
            try files.write(header.json.fileBytes, to: half.at(BackupHeader.name))
            try files.syncDirectory(half)
            try files.rename(half, to: target)
            try files.syncDirectory(target.parent)
            // The damaged copy is kept, because no better one is available. The error keeps the operator from replacing a good copy
            // by it.
            let faults = try Self.faults(in: ServerFolder(target), apps)
            show(header, copy, target, faults)
            guard !faults.isEmpty else { return }
            guard !json else { throw ResultCode.refused.asError }
            throw Failure(
                "the backed-up files are damaged: \(Words.count(faults.count, "fault", "faults"))",
                hint: "keep the earlier backups; patchsrv check --repair repairs the server",
                code: .refused
            )
        }
    }

    /// Copies the records, which a running server may change without the folder's lock.
    ///
    /// - Returns: The newest entry of the copied audit log, or nil for an empty one.
    private static func backUpRecords(of folder: ServerFolder, to target: FilePath) async throws
        -> BackupHeader.AuditHead?
    {
        let records = try folder.records()
        while true {
            let before = try await records.lastAuditEntry()
            try SQLiteRecords(folder.recordsFile).backUp(to: target)
            if try await records.lastAuditEntry() == before { return before.flatMap { BackupHeader.AuditHead($0) } }
            try DiskFiles().remove(target)
        }
    }

    /// Verifies every object and signature of the copy once.
    private static func faults(in copy: ServerFolder, _ apps: [AppID]) throws -> [String] {
        var faults: [String] = []
        for app in apps {
            let report = try CheckTree(of: AppRepository(app, in: copy)).run()
            faults += report.faults.filter(\.rule.isFault).map { "\($0.path): \($0.rule.rawValue): \($0.detail)" }
        }
        return faults
    }

    /// Rejects a server with an app that has lost its timestamp, because commands would not list it as an app.
    private static func checkNoneIsLost(of folder: ServerFolder) throws {
        let files = DiskFiles()
        let there = try folder.allApps(files: files)
        for app in try files.list(folder.apps).compactMap(AppID.init) where !there.contains(app) {
            guard try files.status(of: folder.onlineKey(of: app)) != nil else { continue }
            throw Failure(
                "\(app) has lost its timestamp, so nothing of it would be in the backup; none was made",
                hint: "patchsrv check --repair --from a folder that patchsrv export made, or a backup",
                code: .refused
            )
        }
    }

    private func show(_ header: BackupHeader, _ copy: ServerCopy, _ target: FilePath, _ faults: [String]) {
        let counts: [(String, JSON?)] = [
            ("files", .integer(copy.fileCount)), ("bytes", .integer(copy.bytes)),
            ("faults", .array(faults.map(JSON.text))),
        ]
        guard !json else { return Console.standardOutput.line(header.json.adding(counts).pretty()) }
        let apps = header.apps.map(\.app.text).joined(separator: ", ")
        Console.standardOutput.line(
            "backed up \(apps) to \(printable(target.string)): \(copy.fileCount) files, \(ByteText(copy.bytes))"
        )
        if let audit = header.audit { Console.standardOutput.line(audit.line) }
        for fault in faults { Console.standardOutput.line(printable("  ✗ \(fault)")) }
    }

    private static func check(_ target: FilePath, beside data: FilePath) throws {
        guard try DiskFiles().status(of: target) == nil else {
            throw Failure("\(target) exists already", hint: "name another folder", code: .conflict)
        }
        let parent = target.parent.followingLinks
        guard try DiskFiles().status(of: parent)?.kind == .directory else {
            throw Failure("there is no folder \(target.parent)", hint: "create it first", code: .disk)
        }
        try target.checkLiesInNoBackup()
        guard !parent.starts(with: data.followingLinks) else {
            throw Failure(
                "\(target) is inside the data folder",
                hint: "name a folder elsewhere, on another disk at best",
                code: .usage
            )
        }
    }

    /// Runs `work` with a progress line.
    static func showing(
        _ label: String,
        _ work: ((_ done: Int, _ of: Int) -> Void) throws(ServerError) -> Void
    ) throws(ServerError) {
        var progress: ProgressReport?
        do throws(ServerError) {
            try work { done, total in
                if progress == nil { progress = ProgressReport(label, total: total, unit: .items) }
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
    init?(_ entry: AuditEntry) {
        guard let hash = SHA256Digest(hex: entry.hash) else { return nil }
        self.init(number: entry.number, hash: hash)
    }

    /// The line with the newest hash, so that it can be recorded elsewhere and compared later.
    var line: String { "audit log: \(Words.count(number, "entry", "entries")), the newest has the hash \(hash.hex)" }
}
