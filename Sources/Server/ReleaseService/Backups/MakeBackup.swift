package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
import ServerRecords
package import SystemPackage

/// Copies the whole server to a new folder, while it runs.
package struct MakeBackup {
    private let folder: ServerFolder
    private let target: FilePath
    private let apps: [AppID]
    private let allowsTestingKeys: Bool
    private let files = DiskFiles()

    /// A new backup.
    package struct Made {
        package let header: BackupHeader
        package let fileCount: Int
        package let bytes: Int
        /// The faults of published files.
        ///
        /// A damaged copy is kept, because no better one is available.
        package let faults: [String]
    }

    /// - Parameter target: The new folder.
    /// - Throws: ``BackupError``, and errors of the disk and the tree. Nothing is written.
    package init(of folder: ServerFolder, at target: FilePath, allowsTestingKeys: Bool) throws {
        (self.folder, self.target, self.allowsTestingKeys) = (folder, target, allowsTestingKeys)
        apps = try folder.allApps(files: files)
        try checkTarget()
        try checkNoneIsLost()
    }

    private func checkTarget() throws {
        guard try files.status(of: target) == nil else { throw BackupError.targetExists(target) }
        let parent = target.parent.followingLinks
        guard try files.status(of: parent)?.kind == .directory else { throw BackupError.noFolder(target.parent) }
        try target.checkIsOutsideBackups()
        guard !parent.starts(with: folder.root.followingLinks) else { throw BackupError.insideData(target) }
    }

    /// Rejects a server with an app that has lost its timestamp, because commands would not list it as an app.
    private func checkNoneIsLost() throws {
        for app in try files.list(folder.apps).compactMap(AppID.init) where !apps.contains(app) {
            guard try files.status(of: folder.onlineKey(of: app)) != nil else { continue }
            throw BackupError.lostTimestamp(app)
        }
    }

    /// - Parameter show: Runs the long copy and shows its progress.
    package func run(clock: @escaping @Sendable () -> UTCTime, showing show: ShownCopy) async throws -> Made {
        let half = FilePath(target.string + ".part")
        try files.removeTree(half)
        try files.makeDirectory(half)
        var copy = ServerCopy(folder.root, to: half, files: files)
        try show { progress throws(ServerError) in try copy.transfer(progress: progress) }
        let lock = try await folder.locked(waitingUpTo: .seconds(60))
        try copy.transfer()
        let audit = try await backUpRecords(to: half.at(BackedUpFile.records), clock)
        var rows: [BackupHeader.App] = []
        for app in apps { rows.append(BackupHeader.App(try PublishedState(of: repository(of: app, in: folder)))) }
        lock.release()
        let header = BackupHeader(
            made: clock(),
            apps: rows,
            files: try BackedUpFile.all(in: half, files: files),
            audit: audit
        )
        try files.write(header.json.fileBytes, to: half.at(BackupHeader.name))
        try files.syncDirectory(half)
        try files.rename(half, to: target)
        try files.syncDirectory(target.parent)
        return Made(header: header, fileCount: copy.fileCount, bytes: copy.bytes, faults: try faults())
    }

    /// Copies the records, which a running server may change without the folder's lock.
    ///
    /// - Returns: The newest entry of the copied audit log, or nil for an empty one.
    private func backUpRecords(
        to copy: FilePath,
        _ clock: @escaping @Sendable () -> UTCTime
    ) async throws -> BackupHeader.AuditHead? {
        let records = ServerRecords(try SQLiteRecords(folder.recordsFile), now: clock)
        while true {
            let before = try await records.lastAuditEntry()
            try SQLiteRecords(folder.recordsFile).backUp(to: copy)
            if try await records.lastAuditEntry() == before { return before.flatMap { BackupHeader.AuditHead($0) } }
            try files.remove(copy)
        }
    }

    private func repository(of app: AppID, in folder: ServerFolder) throws(ServerError) -> AppRepository {
        try AppRepository(app, in: folder, files: files, allowsTestingKeys: allowsTestingKeys)
    }

    /// Verifies every object and signature of the copy once.
    private func faults() throws -> [String] {
        var faults: [String] = []
        for app in apps {
            let report = try CheckTree(of: repository(of: app, in: ServerFolder(target))).run()
            faults += report.faults.filter(\.rule.isFault).map { "\($0.path): \($0.rule.rawValue): \($0.detail)" }
        }
        return faults
    }
}

extension BackupHeader.AuditHead {
    init?(_ entry: AuditEntry) {
        guard let hash = SHA256Digest(hex: entry.hash) else { return nil }
        self.init(number: entry.number, hash: hash)
    }
}
