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

/// `patchsrv export`: writes the published tree for a static host.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the published state as a tree for any static host.",
        discussion: """
            Writes DIR/APP with the current state and no older release, for nginx, Caddy,
            a CDN's bucket or `python3 -m http.server`. Devices use it like this server.
            Another export writes only new files. The timestamp is written last: readers
            of DIR see the old or the new state, and an interrupted export can be
            repeated. Copy DIR elsewhere in that order too: metadata/timestamp.json last.

            Server signatures are valid for seven days, so repeat an export
            without --valid within that time. With --valid, the exported tree gets its own
            dial, snapshot and timestamp, valid that long, but not longer than root or targets.
            The served tree does not change. The server's next numbers are higher, so a
            device that saw the export can use the server again; until the server signs,
            that device treats it as a mirror that lags. Anyone who serves an export can
            withhold newer releases while it is valid: choose the shortest time you need.

            A version with a head-count (`patchsrv dial --headcount`) needs
            `patchsrv serve`. On a static host no further device installs it; the export
            reports this.

            EXAMPLES
              patchsrv export /srv/www --data /srv/patchline
              patchsrv export /media/stick --data /srv/patchline --valid 30d --passphrase-file online.pass
              patchsrv export /srv/www --data /srv/patchline --app com.example.storefront --verify --json
            """
                + exitCodes(
                    [
                        .done: "DIR has the server's state",
                        .refused: "the published tree, or the online key, does not verify",
                        .busy: "another process uses the data folder, or exports to DIR",
                        .conflict: "DIR has a newer state, or another root of trust",
                    ],
                    usual: .disk
                )
    )

    @Argument(help: ArgumentHelp("The folder to write to, created if missing.", valueName: "dir"))
    var directory: String

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Option(help: ArgumentHelp("Sign the exported tree for this long: 30d, 12h.", valueName: "time"))
    var valid: DurationArgument?

    @Flag(help: "Read every file of DIR again, instead of comparing sizes of files named by digest.")
    var verify = false

    @OptionGroup var passphrase: KeyOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard valid.map({ $0.duration <= SignExport.longest }) ?? true else {
            throw ValidationError("--valid must be at most \(SignExport.longest.components.seconds / 86_400)d")
        }
    }

    func run() async throws {
        try await reporting(json: json) {
            let target = FilePath(argument: directory)
            let data = folder.folder.root.followingLinks
            guard !target.followingLinks.starts(with: data), !data.starts(with: target.followingLinks) else {
                throw Failure(
                    "\(target) contains the data folder, or is inside it",
                    hint: "name a folder elsewhere",
                    code: .usage
                )
            }
            try target.checkIsOutsideBackups()
            let chosen = try apps.apps(in: folder.folder)
            let lock = try Self.locked(target)
            var done: [Report] = []
            for app in chosen {
                done.append(Report(export: try await export(app, to: target), counted: try counted(in: app)))
            }
            lock.release()
            if json {
                Console.standardOutput.line(JSON.fields([("apps", .array(done.map(\.json)))]).pretty())
            } else {
                for report in done { for line in report.lines(to: target) { Console.standardOutput.line(line) } }
            }
        }
    }

    struct Report {
        let export: Export
        /// Versions with a head-count.
        ///
        /// A static host cannot give out their places.
        let counted: [String]

        func lines(to target: FilePath) -> [String] {
            export.lines(to: target)
                + counted.map {
                    "  warning: \($0) has a head-count: only patchsrv serve gives places, so no further device installs it "
                        + "from a static host"
                }
        }

        var json: JSON { export.json.adding([("headcounts", .array(counted.map { .text($0) }))]) }
    }

    private func counted(in app: AppID) throws -> [String] {
        try AppListing(of: AppRepository(app, in: folder.folder)).channels.flatMap { channel in
            channel.patches.filter { $0.dial?.headcount != nil }.map { "\(channel.name) \($0.patchID) \($0.version)" }
        }
    }

    private func export(_ app: AppID, to target: FilePath) async throws -> Export {
        let repository = try AppRepository(app, in: folder.folder)
        var roles: OwnRoles?
        if let valid {
            let key = try passphrase.key(at: repository.onlineKeyFile)
            roles = try await folder.operations(key).ownRoles(of: app, holding: valid.duration, by: .here)
        }
        var progress: ProgressReport?
        do {
            let done = try ExportTree(of: repository, to: target, signedWith: roles, rereading: verify).run {
                done,
                total in
                if progress == nil { progress = ProgressReport("Exporting \(app)", total: total, unit: .items) }
                progress?.update(to: done)
            }
            progress?.finish()
            return done
        } catch {
            progress?.abandon()
            throw error
        }
    }

    private static func locked(_ target: FilePath) throws -> StoreLock {
        try DiskFiles().makeDirectory(target, permissions: FilePermissions(rawValue: 0o755))
        do throws(StoreLockError) { return try StoreLock(target.at(".lock")) } catch {
            throw ExportError.locked(error)
        }
    }
}

extension Export {
    fileprivate func lines(to target: FilePath) -> [String] {
        [
            "\(app) in \(printable(target.at(app.text).string))",
            "  wrote \(Words.count(change.files, "file")), \(ByteText(change.bytes)); "
                + "\(Words.grouped(unchanged)) \(unchanged == 1 ? "was" : "were") there",
            "  timestamp \(roles.timestamp), snapshot \(roles.snapshot), dial \(roles.dial), until \(roles.expires)",
        ]
            + endingBefore.map {
                "  warning: \($0.role) ends earlier, at \($0.expires): devices install nothing from it then"
            }
    }

    fileprivate var json: JSON {
        .fields([
            ("app", .text(app.text)), ("filesWritten", .integer(change.files)),
            ("bytesWritten", .integer(change.bytes)),
            ("unchanged", .integer(unchanged)), ("timestamp", .integer(roles.timestamp)),
            ("snapshot", .integer(roles.snapshot)), ("dial", .integer(roles.dial)),
            ("expires", .text(roles.expires.description)),
            (
                "endingBefore",
                .array(
                    endingBefore.map {
                        .fields([("role", .text($0.role)), ("expires", .text($0.expires.description))])
                    }
                )
            ),
        ])
    }
}
