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
        abstract: "Removes what nothing refers to any more: superseded roles, targets, objects, late drafts.",
        discussion: """
            What is published stays, and so do the newest superseded releases of each channel, whole, for going back to them;
            whatever was current within the protected time, for a device may be in the middle of it; every root; and what a
            draft, an upload or a proposal to roll back counts on. What refers goes before what is referred to, so a kill at any moment
            leaves a whole tree. The folder's lock is held for a thousand files at a time: others publish in between.

            When something was superseded is told by the files themselves, no later than the newest timestamp, so a clock that
            jumped ahead removes nothing early. Run it from cron, once a day or so.

            EXAMPLES
              patchsrv gc --data /srv/patchline --dry-run
              patchsrv gc --data /srv/patchline --keep 20 --protect 7d
              patchsrv gc --data /srv/patchline --dry-run --json
            """
                + exitCodes([
                    .done: "nothing is left that could go",
                    .refused: "the published tree does not verify, so nobody knows what it needs: patchsrv check",
                    .disk: "a file could not be read or removed",
                    .busy: "another process holds the data folder",
                ])
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Flag(help: "Say what would go, and remove nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("How many superseded releases of each channel stay whole.", valueName: "count"))
    var keep = 10

    @Option(help: ArgumentHelp("How long what was superseded stays at least: 48h, 7d, 0h.", valueName: "time"))
    var protect = ProtectedTime(duration: .hours(48))

    @Flag(help: "Print what goes as JSON.")
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
                    (try? DoctorCommand.packsWastingRoom(in: AppRepository(app, in: folder.folder))) ?? (0, 0)
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
                    "\(app): \(all) save less than \(UpdateCost.leastSaving) % of an update; they go with the versions that they "
                        + "start from (--keep)"
                )
            }
            if places > 0 {
                let what = Words.count(places, "place of a head-count", "places of head-counts")
                console.line("\(app): \(dryRun ? "would forget" : "forgot") \(what)")
            }
            if statistics > 0 {
                let what = "what devices reported of \(Words.count(statistics, "version")) for JSPatch's clients"
                console.line("\(app): \(dryRun ? "would forget" : "forgot") \(what)")
            }
            guard !rows.isEmpty else {
                guard places == 0, statistics == 0 else { return }
                return console.line("\(app): \(dryRun ? "nothing would go" : "nothing was removed")")
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
