import ArgumentParser
import CommandKit
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords

/// `patchsrv gc`: removes unreferenced files.
struct GarbageCommand: AsyncParsableCommand {
    static let keeps = 0...1_000_000
    static let keepRule = "must be from 0 to 1000000"

    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Remove unreferenced files: superseded roles, targets, objects, late drafts.",
        discussion: """
            Keeps the published state, the newest superseded releases of each channel for
            rollbacks, all files that were current within the protected time (devices may
            be downloading them), every root, and the files that a draft, an upload or a
            rollback proposal needs. Referring files are removed first, so the tree stays
            complete at every moment. The folder's lock is released after every thousand
            files, so that others can publish.

            A file's own time shows when it was superseded, but never later than the
            newest timestamp: a clock that jumped ahead removes nothing early. Run it from
            cron, about once a day.

            EXAMPLES
              patchsrv gc --data /srv/patchline --dry-run
              patchsrv gc --data /srv/patchline --keep 20 --protect 7d
              patchsrv gc --data /srv/patchline --dry-run --json
            """
                + exitCodes([
                    .done: "nothing is left to remove",
                    .refused: "the published tree does not verify, so its needs are unknown: patchsrv check",
                    .disk: "a file could not be read or removed",
                    .busy: "another process uses the data folder",
                ])
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Flag(help: "List the files to remove, but remove nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Number of superseded releases to keep in each channel.", valueName: "count"))
    var keep = 10

    @Option(
        help: ArgumentHelp("Minimum age of superseded files before they are removed: 48h, 7d, 0h.", valueName: "time")
    )
    var protect = ProtectedTime(duration: .hours(48))

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard Self.keeps.contains(keep) else { throw ValidationError("--keep \(Self.keepRule)") }
    }

    func run() async throws {
        try await reporting(json: json) {
            let rule = GarbageRule(keep: keep, protect: protect.duration)
            var reports: [Report] = []
            let operations = try folder.operations(waitingUpTo: .seconds(30))
            for app in try apps.apps(in: folder.folder) {
                var report = try await dryRun ? look(app, rule, operations) : collect(app, rule, operations)
                report.places = try await operations.removeUnlistedPlaces(of: app, dryRun: dryRun, by: .here)
                report.statistics = try await operations.removeUnlistedStatistics(of: app, dryRun: dryRun)
                report.packs =
                    (try? DoctorCommand.packsWastingSpace(in: AppRepository(app, in: folder.folder))) ?? (0, 0)
                reports.append(report)
            }
            if json {
                let json = reports.map { $0.json(dryRun: dryRun) }
                Console.standardOutput.line(JSON.fields([("apps", .array(json))]).pretty())
            } else {
                for report in reports { report.write(to: .standardOutput, dryRun: dryRun) }
            }
        }
    }

    private func look(_ app: AppID, _ rule: GarbageRule, _ operations: ReleaseOperations) async throws -> Report {
        let plan = try await GarbageRun(of: app, by: rule, operations).find()
        var tally = CollectGarbage.Tally()
        let items = GarbagePlan.Stage.allCases.flatMap { plan.items[$0] ?? [] }
        for item in items { tally.add(item.kind, bytes: item.size) }
        return Report(app: app, tally: tally, items: items)
    }

    private func collect(_ app: AppID, _ rule: GarbageRule, _ operations: ReleaseOperations) async throws -> Report {
        Report(
            app: app,
            tally: try await GarbageRun(of: app, by: rule, operations.showingProgress(of: app)).run(by: .here),
            items: nil
        )
    }

    struct Report {
        let app: AppID
        let tally: CollectGarbage.Tally
        /// The items by name if nothing was removed.
        let items: [GarbagePlan.Item]?
        /// The places in versions that are no longer listed.
        ///
        /// Each is a row of the records, not a file.
        var places = 0
        /// The counted reports of versions for JSPatch's clients that are no longer listed.
        var statistics = 0
        /// The packs that save too little for their size.
        var packs: (count: Int, bytes: Int) = (0, 0)

        private var rows: [(kind: String, count: Int, bytes: Int)] {
            tally.rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count, $0.value.bytes) }
        }

        func write(to console: Console, dryRun: Bool) {
            if packs.count > 0 {
                let all = "\(Words.count(packs.count, "pack")) of \(ByteText(packs.bytes))"
                console.line(
                    "\(app): \(all) save less than \(UpdateCost.leastSaving) % of an update; they are removed with the versions that they "
                        + "start from (--keep)"
                )
            }
            if places > 0 {
                let what = Words.count(places, "place of a head-count", "places of head-counts")
                console.line("\(app): \(dryRun ? "would forget" : "forgot") \(what)")
            }
            if statistics > 0 {
                let what = "the reports of JSPatch's clients for \(Words.count(statistics, "version"))"
                console.line("\(app): \(dryRun ? "would forget" : "forgot") \(what)")
            }
            guard !rows.isEmpty else {
                guard places == 0, statistics == 0 else { return }
                return console.line("\(app): \(dryRun ? "nothing would be removed" : "nothing was removed")")
            }
            console.line("\(app): \(dryRun ? "would remove" : "removed")")
            var table = Table(["what", Table.Column("files", .right), Table.Column("bytes", .right)])
            for row in rows {
                table.add(["\(row.kind)", Table.Cell(Words.grouped(row.count)), "\(ByteText(row.bytes))"])
            }
            let (count, bytes) = rows.reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.bytes) }
            table.add(["in all", Table.Cell(Words.grouped(count)), "\(ByteText(bytes))"])
            table.write(to: console)
        }

        func json(dryRun: Bool) -> JSON {
            .fields([
                ("app", .text(app.text)), ("dryRun", .bool(dryRun)), ("places", .integer(places)),
                ("statistics", statistics == 0 ? nil : .integer(statistics)),
                ("packsWastingRoom", packs.count == 0 ? nil : .integer(packs.bytes)),
                (
                    "removed",
                    .array(
                        rows.map {
                            .fields([
                                ("kind", .text($0.kind)), ("files", .integer($0.count)), ("bytes", .integer($0.bytes)),
                            ])
                        }
                    )
                ),
                (
                    "items",
                    items.map { items in
                        .array(
                            items.map {
                                .fields([
                                    ("path", .text($0.path)), ("kind", .text($0.kind)), ("bytes", .integer($0.size)),
                                ])
                            }
                        )
                    }
                ),
            ])
        }
    }
}

/// A duration that may be zero.
struct ProtectedTime: ExpressibleByArgument {
    let duration: Duration

    var defaultValueDescription: String { "48h" }

    init(duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        if ["0", "0m", "0h", "0d"].contains(argument) {
            duration = .zero
        } else if let length = DurationArgument(argument: argument) {
            duration = length.duration
        } else {
            return nil
        }
    }
}
