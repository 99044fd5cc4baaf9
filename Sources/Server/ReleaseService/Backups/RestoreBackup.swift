package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
package import ServerRecords
package import SystemPackage

/// Restores a backup into a data folder without a server.
///
/// ```
/// DATA/restoring/     all files, until they are copied, verified and signed
/// DATA/apps, drafts, records.sqlite, and last tree
/// ```
///
/// Commands see no app before the tree exists. If the restoration is interrupted before that, the same command starts over. After
/// that, everything is restored.
package struct RestoreBackup {
    private static let parts = ["apps", "drafts", "records.sqlite", "tree"]

    package let backup: ServerFolder
    private let header: BackupHeader
    /// Whether the backup's records can be compared with its audit head.
    package var isDescribed: Bool { header.files != nil }
    private let data: ServerFolder
    private let allowsTestingKeys: Bool
    private let files = DiskFiles()

    private var half: ServerFolder { ServerFolder(data.root.at("restoring")) }

    /// - Throws: ``BackupError``, and errors of the disk, the header and the tree. Nothing is changed.
    package init(_ directory: FilePath, to data: ServerFolder, allowsTestingKeys: Bool) throws {
        backup = ServerFolder(directory.followingLinks)
        (self.data, self.allowsTestingKeys) = (data, allowsTestingKeys)
        guard try files.status(of: backup.root.at(BackupHeader.name)) != nil else {
            throw BackupError.notBackup(directory)
        }
        header = try BackupHeader(try files.read(backup.root.at(BackupHeader.name), limit: BackupHeader.limit))
        try checkIsWhole(directory)
        try data.root.checkIsOutsideBackups()
        try checkIsFree()
    }

    /// Rejects a backup without all apps and the records.
    ///
    /// A server with missing parts would run without an error.
    private func checkIsWhole(_ directory: FilePath) throws {
        let there = try backup.allApps(files: files)
        let lost = header.apps.map(\.app).filter { !there.contains($0) }
            .map { "apps/\($0) or the timestamp of tree/\($0)" }
            .map { "\($0) is missing" }
        let fault = try lost.first ?? BackedUpFile.fault(in: backup.root, header.files, files: files)?.description
        guard let fault else { return }
        throw BackupError.incomplete(directory, fault: fault)
    }

    private func checkIsFree() throws {
        guard try files.status(of: half.root) == nil else { return }
        for part in Self.parts where try files.status(of: data.root.at(part)) != nil {
            throw BackupError.serverExists(data.root)
        }
    }

    /// - Parameters:
    ///   - keys: The keys of all apps, or nil to sign nothing.
    ///   - known: A version that devices are known to have seen, or 0.
    ///   - actor: The author of the audit entry.
    ///   - show: Runs the copy and shows its progress.
    package func run(
        _ keys: [AppID: OnlineKey]?,
        above known: Int,
        by actor: Actor,
        clock: @escaping @Sendable () -> UTCTime,
        showing show: ShownCopy
    ) async throws -> RestoredServer {
        let lock = try data.locked(files: files)
        try checkIsFree()
        try removeInterruptedRestore()
        try files.makeDirectory(half.root)
        var copy = ServerCopy(backup.root, to: half.root, with: ["records.sqlite"], files: files)
        try show { progress throws(ServerError) in try copy.transfer(progress: progress) }
        var done = try RestoredServer(
            settling: half,
            keys,
            above: known,
            allowsTestingKeys: allowsTestingKeys,
            clock: clock
        )
        done.made = header.made
        for part in Self.parts where part != "tree" { try move(part) }
        let records = ServerRecords(try SQLiteRecords(data.recordsFile), now: clock)
        done.audit = try await restoredAuditHead(of: records)
        try await records.commit([], noting: done.event(by: actor))
        try move("tree")
        try files.syncDirectory(data.root)
        try files.removeTree(half.root)
        lock.release()
        return done
    }

    /// The newest entry of the restored audit log.
    ///
    /// It must equal the one in the backup.
    private func restoredAuditHead(of records: ServerRecords) async throws -> BackupHeader.AuditHead? {
        let head = try await records.lastAuditEntry().flatMap { BackupHeader.AuditHead($0) }
        guard header.files == nil || head == header.audit else { throw BackupError.otherAuditLog }
        return head
    }

    /// Removes the remains of an interrupted restoration.
    ///
    /// The tree is moved last, so if it exists, only an empty folder is left.
    private func removeInterruptedRestore() throws {
        guard try files.status(of: half.root) != nil else { return }
        guard try files.status(of: data.tree) == nil else {
            try files.removeTree(half.root)
            return try checkIsFree()
        }
        for part in Self.parts { try files.removeTree(data.root.at(part)) }
        for name in ["records.sqlite-wal", "records.sqlite-shm"] { try files.removeIfPresent(data.root.at(name)) }
        try files.removeTree(half.root)
    }

    private func move(_ part: String) throws {
        guard try files.status(of: half.root.at(part)) != nil else { return }
        try files.rename(half.root.at(part), to: data.root.at(part))
    }
}

/// Runs a copy, which reports its progress to a function.
package typealias ShownCopy = (
    _ copy: (_ progress: (_ done: Int, _ of: Int) -> Void) throws(ServerError) -> Void
) throws(ServerError) -> Void

/// The restored server, verified, with version numbers above every one that devices may have seen.
package struct RestoredServer {
    package struct App {
        package let restored: RestoredApp
        package let report: TreeReport
        /// The signed versions, or nil for the reason in ``unsigned``.
        package let signed: RefreshedVersions?
        package let unsigned: String?
    }

    package let apps: [App]
    /// The time of the backup, or nil if the folder was restored in another way.
    package internal(set) var made: UTCTime?
    /// The newest entry of the audit log before the restoration.
    ///
    /// Nil for an empty log and with `--in-place`.
    package internal(set) var audit: BackupHeader.AuditHead?
    package var isWhole: Bool { apps.allSatisfy { $0.report.isWhole } }
    package var faultCount: Int { apps.reduce(0) { $0 + $1.report.faults.count(where: \.rule.isFault) } }

    /// Raises the version numbers of every app, verifies it and signs it.
    ///
    /// - Parameter keys: The keys, or nil to sign nothing.
    package init(
        settling folder: ServerFolder,
        _ keys: [AppID: OnlineKey]?,
        above known: Int,
        allowsTestingKeys: Bool,
        clock: () -> UTCTime
    ) throws(ServerError) {
        var apps: [App] = []
        let files = DiskFiles()
        for app in try folder.allApps(files: files) {
            let repository = try AppRepository(
                app,
                in: folder,
                files: files,
                allowsTestingKeys: allowsTestingKeys
            )
            let restored = try RestoreNumbers(of: repository, above: known).run()
            var (signed, unsigned): (RefreshedVersions?, String?) = (nil, nil)
            do throws(ServerError) {
                signed = try keys?[app].map { key throws(ServerError) in
                    try RefreshRoles(of: repository, signing: key, at: clock()).run()
                }
            } catch {
                // Key holders must sign first, or the clock must be set. The restored files are needed for that.
                let waits = if case .ended = error { true } else if case .clockBehind = error { true } else { false }
                guard waits else { throw error }
                unsigned = error.description
            }
            let report = try CheckTree(of: repository).run()
            apps.append(App(restored: restored, report: report, signed: signed, unsigned: unsigned))
        }
        self.apps = apps
    }

    /// The audit entry of the restoration.
    package func event(by actor: Actor) -> AuditEntry.Event {
        AuditEntry.Event(
            "server.restore",
            by: actor,
            before: made.map { .fields([("backup", .text($0.description))]) } ?? .null,
            after: .fields([("apps", .array(apps.map(\.numbers)))])
        )
    }
}

extension RestoredServer.App {
    /// The published channels in the order of their names, with the versions of their roles.
    package var channels: [(name: ChannelName, version: Int)] {
        restored.channels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The restored versions, as the audit entry contains them.
    package var numbers: JSON {
        .fields([
            ("app", .text(restored.app.text)), ("above", .integer(restored.above)),
            (
                "channels",
                .array(
                    channels.map {
                        .fields([("channel", .text($0.name.text)), ("roleVersion", .integer($0.version))])
                    }
                )
            ),
        ])
    }
}
