import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseService
import ServerRecords
import SystemPackage

/// Restores a backup into a data folder without a server.
///
/// ```
/// DATA/restoring/     all files, until they are copied, verified and signed
/// DATA/apps, drafts, records.sqlite, and last tree
/// ```
///
/// Commands see no app before the tree exists. If the restoration is interrupted before that, the same command starts over. After
/// that, everything is restored.
struct BackupRestoration {
    private static let parts = ["apps", "drafts", "records.sqlite", "tree"]

    let backup: ServerFolder
    private let header: BackupHeader
    /// Whether the backup's records can be compared with its audit head.
    var isDescribed: Bool { header.files != nil }
    private let data: ServerFolder
    private let files = DiskFiles()

    private var half: ServerFolder { ServerFolder(data.root.at("restoring")) }

    init(_ directory: FilePath, to data: ServerFolder) throws {
        backup = ServerFolder(directory.followingLinks)
        self.data = data
        guard try files.status(of: backup.root.at(BackupHeader.name)) != nil else {
            throw Failure(
                "\(directory) is no backup: it has no \(BackupHeader.name)",
                hint: "name a folder that patchsrv backup made; what came back in another way: --in-place",
                code: .malformed
            )
        }
        header = try BackupHeader(try files.read(backup.root.at(BackupHeader.name), limit: BackupHeader.limit))
        try checkIsWhole(directory)
        try data.root.checkLiesInNoBackup()
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
        throw Failure(
            "\(directory) is not a complete backup: \(fault)",
            hint: "copy it again from where it was made, or name another backup; nothing was restored",
            code: .malformed
        )
    }

    private func checkIsFree() throws {
        guard try files.status(of: half.root) == nil else { return }
        for part in Self.parts where try files.status(of: data.root.at(part)) != nil {
            throw Failure(
                "there is a server in \(data.root) already",
                hint: "name an empty folder; nothing was changed",
                code: .conflict
            )
        }
    }

    /// - Parameter keys: The keys of all apps, or nil to sign nothing.
    func run(_ keys: [AppID: OnlineKey]?, above known: Int) async throws -> RestoredServer {
        let lock = try data.locked(files: files)
        try checkIsFree()
        try removeWhatWasStopped()
        try files.makeDirectory(half.root)
        var copy = ServerCopy(backup.root, to: half.root, with: ["records.sqlite"], files: files)
        try BackupCommand.showing("Copying") { progress throws(ServerError) in try copy.bring(progress: progress) }
        var done = try RestoredServer(settling: half, keys, above: known)
        done.made = header.made
        for part in Self.parts where part != "tree" { try move(part) }
        done.audit = try await restoredAuditHead()
        try await data.records().commit([], noting: done.event)
        try move("tree")
        try files.syncDirectory(data.root)
        try files.removeTree(half.root)
        lock.release()
        return done
    }

    /// The newest entry of the restored audit log.
    ///
    /// It must equal the one in the backup.
    private func restoredAuditHead() async throws -> BackupHeader.AuditHead? {
        let head = try await data.records().lastAuditEntry().flatMap { BackupHeader.AuditHead($0) }
        guard header.files == nil || head == header.audit else {
            throw Failure(
                "the audit log of the backup does not end with the entry that \(BackupHeader.name) names",
                hint: "name another backup; no app was restored",
                code: .malformed
            )
        }
        return head
    }

    /// Removes the remains of an interrupted restoration.
    ///
    /// The tree is moved last, so if it exists, only an empty folder is left.
    private func removeWhatWasStopped() throws {
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

/// The restored server, verified, with version numbers above every one that devices may have seen.
struct RestoredServer {
    struct App {
        let restored: RestoredApp
        let report: TreeReport
        /// The signed versions, or nil for the reason in ``unsigned``.
        let signed: RefreshedVersions?
        let unsigned: String?
    }

    let apps: [App]
    /// The time of the backup, or nil if the folder was restored in another way.
    var made: UTCTime?
    /// The newest entry of the audit log before the restoration.
    ///
    /// Nil for an empty log and with `--in-place`.
    var audit: BackupHeader.AuditHead?
    var isWhole: Bool { apps.allSatisfy { $0.report.isWhole } }
    var faultCount: Int { apps.reduce(0) { $0 + $1.report.faults.count(where: \.rule.isFault) } }

    /// Raises the version numbers of every app, verifies it and signs it.
    ///
    /// - Parameter keys: The keys, or nil to sign nothing.
    init(settling folder: ServerFolder, _ keys: [AppID: OnlineKey]?, above known: Int) throws {
        var apps: [App] = []
        for app in try folder.allApps(files: DiskFiles()) {
            let repository = try AppRepository(app, in: folder)
            let restored = try RestoreNumbers(of: repository, above: known).run()
            var (signed, unsigned): (RefreshedVersions?, String?) = (nil, nil)
            do throws(ServerError) {
                signed = try keys?[app].map { key throws(ServerError) in
                    try RefreshRoles(of: repository, signing: key, at: ProcessEnvironment.now()).run()
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
    var event: AuditEntry.Event {
        AuditEntry.Event(
            "server.restore",
            by: .here,
            before: made.map { .fields([("backup", .text($0.description))]) } ?? .null,
            after: .fields([("apps", .array(apps.map(\.numbers)))])
        )
    }

    var json: JSON {
        .fields([
            ("whole", .bool(isWhole)), ("apps", .array(apps.map(\.json))), ("audit", audit.map(\.json)),
        ])
    }
}

extension RestoredServer.App {
    private var channels: [(name: ChannelName, version: Int)] {
        restored.channels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    var numbers: JSON {
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
            lines.append("  signed above what devices may know: timestamp \(signed.timestamp), until \(signed.expires)")
        } else {
            lines.append(
                "  nothing was signed\(unsigned.map { " (\($0))" } ?? ""): the next patchsrv refresh goes above "
                    + "\(restored.above)"
            )
        }
        lines += report.faults.filter(\.rule.isFault).map { "  ✗ \($0.path): \($0.rule.rawValue): \($0.detail)" }
        return lines
    }
}
