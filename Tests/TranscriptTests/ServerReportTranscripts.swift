import CommandKit
import PageDiff
import PatchFormat
import PatchStore
import PatchServer
import SystemPackage
import Testing

@testable import PatchDelta
@testable import PatchServer
@testable import PatchServerCommand
@testable import PatchCrypto
@testable import PatchTrust
@testable import ReleaseFolder
@testable import ReleaseService
@testable import ServerRecords

@Suite("What patchsrv reports")
struct ServerReportTranscripts {
    private static let revoked = JSON.fields([
        ("id", .text("0123456789abcdef")), ("name", .text("ci")), ("revoked", .text(Sample.time.description)),
    ])

    @Test func `writes long values of an audit entry in full, unless they are for a terminal`() {
        let text = String(repeating: "a", count: 60)
        let entry = JSON.fields([
            ("action", .text("parameters.change")), ("before", .fields([("parameters", .fields([]))])),
            ("after", .fields([("parameters", .fields([("banner", .text(text))]))])),
        ])
        #expect(entry.auditWords(isWhole: true) == "banner: nothing → \(text)")
        #expect(entry.auditWords(isWhole: false) == "banner: nothing → \(text.prefix(39))…")
    }

    @Test func `of what it did and found stands in its transcript`() throws {
        var reports = Transcript("patchsrv-reports", about: "What patchsrv says of what it did, found and shows.")
        reports.section("publish", publishing)
        reports.section("optimize", optimized)
        reports.section("trust", trusts)
        reports.section("draft show and proposal show", drafts + [proposal])
        reports.section("list", [try listing()])
        reports.section("export", [text(try exported())])
        reports.section("packs", try packs())
        reports.section("blocks", try blocks())
        reports.section("gc", try garbage())
        reports.section("check", [text(try chain().lines), text(tree.lines)])
        reports.section("restore", restored.map { text($0.lines(made: nil)) })
        reports.list(
            "what is wrong with what was signed",
            [SignedFault.noTarget("a/b"), SignedFault.length(5, signed: 6), SignedFault.unlisted("production")]
        )
        reports.list("what a change would do", try changes())
        reports.list("records that cannot be read", records())
        reports.list("audit list", Self.entries.map { "\($0.words("action")): \($0.auditWords(isWhole: false))" })
        reports.list(
            "token revoke",
            [
                TokenRevokeCommand.line(Self.revoked), TokenRevokeCommand.lineBefore(Self.revoked),
                RolloutCommand.nothing(of: Sample.app.text), RolloutCommand.warning(of: [Sample.beta, Sample.channel]),
            ]
        )
        reports.list("audit verify", Self.faults.map(\.sentence))
        reports.list(
            "audit accept-clock",
            [Sample.before, Sample.after].map { AuditAcceptClockCommand.sentence($0, Sample.time) }
        )
        reports.list("who did something", Self.actors.map { "\($0.text), and over the API \($0.json.actor)" })
        reports.list("a key that is encrypted", [KeyOptions.question(for: "Keys/online.key")])
        reports.list("token new", [TokenNewCommand.warning(of: Sample.app, among: [])])
        try reports.check()
    }

    private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

    private let roles = RefreshedVersions(
        app: Sample.app,
        timestamp: 42,
        snapshot: 41,
        dial: 9,
        expires: Sample.after
    )

    private var change: TreeChange {
        var change = TreeChange(files: 3, bytes: 1_234)
        change.repaired = ["objects/5e/5e5e"]
        return change
    }

    // MARK: publish, trust

    private func turned(_ row: Dial.Row?) -> DialState.Version {
        DialState.Version(
            patchID: Sample.patch,
            version: Sample.version,
            kind: .bundle,
            sha256: Sample.digest,
            ceiling: 5_000,
            row: row
        )
    }

    private func row(paused: Bool = false) -> Dial.Row {
        Dial.Row(patchID: Sample.patch, sha256: Sample.digest, rollout: 1_000, paused: paused, reason: nil)
    }

    private var developersWait: [DeveloperSyncFile] {
        guard let version = AppVersion("2.1"), let key = PlatformAppKey("0a1b2c3d4e5f6071") else { return [] }
        let line = GatewayPackages.Line(.platform(key), version)
        let syncFile = JSON.fields([("v", .integer(8)), ("p", .bool(true))])
        return [DeveloperSyncFile(channel: Sample.channel, line: line, syncFile: syncFile, taken: LoaderVersion(8))]
    }

    private var started: [StartedVersion] {
        let ramp = RolloutRamp(steps: [100, 2_500, 10_000], every: 21_600).map { StartingRollout.Start.ramp($0) }
        let starts: [StartingRollout.Start?] = [.share(1_000), .paused(at: nil), ramp]
        return starts.compactMap(\.self).map { start in
            StartedVersion(label: Sample.label, sha256: Sample.digest, start: start)
        }
    }

    private var publishing: [String] {
        let held = turned(row())
        let done = Publication(
            channel: Sample.channel,
            version: 7,
            counts: VerifiedRelease.Counts(entries: 2, assets: 30, signatures: 33),
            change: change,
            roles: roles,
            removedDrafts: [6, 7],
            started: started,
            heldBack: [held, turned(row(paused: true))],
            lapses: [.forgotten(held), .free(held), .free(turned(nil))],
            developersWait: developersWait,
            endings: [],
            leftOutPacks: [
                DiscardedPack(
                    new: Sample.label,
                    base: Sample.version,
                    cost: UpdateCost(pack: 52_460_000, signatures: 0, otherwise: 54_600_000)
                )
            ],
            awaitsForms: true,
            removedForms: RemovedForms(files: 2, bytes: 4_300_000)
        )
        let outcomes: [PublishOutcome] = [
            .published(done),
            .drafted(channel: Sample.channel, version: 7, quorum: VerifiedRelease.SignatureTally(valid: 1, needed: 2)),
            .alreadyPublished(channel: Sample.channel, version: 7, change),
        ]
        return outcomes.map { text($0.lines(app: Sample.app)) }
    }

    private var optimized: [String] {
        var outcome = Optimization.Outcome()
        outcome.written = TreeChange(files: 24, bytes: 1_200_000)
        outcome.removed = RemovedForms(files: 1, bytes: 1_234)
        outcome.leftOut = [
            DiscardedPack(
                new: Sample.label,
                base: Sample.version,
                cost: UpdateCost(pack: 52_460_000, signatures: 0, otherwise: 54_600_000)
            )
        ]
        let results: [Optimizer.Result] = [.done(outcome), .done(Optimization.Outcome()), .doneElsewhere]
        let folder = ServerFolder("/srv/patchline")
        let pending = [
            PendingOptimization(Sample.channel, 7),
            PendingOptimization(Sample.channel, 7, progress: .init(done: 3, total: 12)),
        ]
        return results.map { text($0.lines) }
            + [true, false].map { PublishCommand.later(in: folder, isServed: $0) } + pending.map(\.words)
    }

    private var trusts: [String] {
        typealias Change = TrustPublication.ChannelChange
        let done = TrustPublication(
            root: 3,
            previousRoot: 2,
            targets: 5,
            restartsVersions: true,
            published: [Change(channel: Sample.channel, version: 8)],
            carriedOver: [Change(channel: Sample.beta, version: 4)],
            carriedDials: [
                .init(channel: Sample.beta, rows: [row(), row(paused: true)]),
                .init(channel: Sample.channel, rows: nil),
            ],
            carriedParameters: [.init(channel: Sample.beta, count: 3), .init(channel: Sample.channel, count: nil)],
            dropped: [Change(channel: Sample.named("gamma"), version: 2)],
            retired: [Change(channel: Sample.named("delta"), version: 4)],
            change: change,
            roles: roles
        )
        let outcomes: [TrustOutcome] = [.updated(done), .alreadyCurrent(root: 3, targets: 5, change)]
        return outcomes.map { text($0.lines(app: Sample.app)) }
    }

    // MARK: draft, proposal, list

    private func draftRow(isCurrent: Bool, isRead: Bool = true) -> AppListing.DraftRow {
        AppListing.DraftRow(
            channel: Sample.channel,
            version: 8,
            identity: isRead ? Sample.digest : nil,
            valid: 1,
            needed: 2,
            isCurrent: isCurrent
        )
    }

    private var drafts: [String] {
        [(7, true), (nil, false)].map { base, isCurrent in
            text(
                WaitingDraft(
                    app: Sample.app,
                    row: draftRow(isCurrent: isCurrent),
                    base: base,
                    roleVersion: 7,
                    signers: isCurrent ? [Sample.digest.hex] : [],
                    expires: Sample.after,
                    proposal: isCurrent ? Sample.named("5e5e5e5e5e5e5e5e") : nil,
                    patches: [],
                    difference: ["(what it changes)"]
                ).lines
            )
        }
    }

    private var proposal: String {
        [0, 7].map { current in
            text(
                Proposal(
                    id: Sample.named("5e5e5e5e5e5e5e5e"),
                    app: Sample.app,
                    channel: Sample.channel,
                    change: .rollBack(to: 5),
                    note: "checkout errors",
                    created: Sample.time,
                    actor: Self.actors[current == 0 ? 0 : 1],
                    roleVersion: current,
                    difference: ["(what it changes)"]
                ).lines
            )
        }.joined(separator: "\n")
    }

    private func packs() throws -> [String] {
        let steps = [
            Sample.update(1_234, PackSummary(patched: 5, plain: 3, groups: 2)),
            Sample.update(1_234, PackSummary(same: 1_200, substituted: 30, plain: 2, groups: 2)),
            Sample.update(1_234, PackSummary(patched: 1, groups: 1)), Sample.update(1_234, PackSummary(groups: 0)),
            Sample.update(1_234, nil), Sample.update(52_460_000, nil),
            Sample.update(nil, nil, isWhole: true), Sample.update(nil, nil),
        ]
        return [
            text(try Written.lines { PacksCommand.write(steps, .nothing, Sample.channel, to: $0) }),
            text(try Written.lines { PacksCommand.write(Array(steps.prefix(1)), change, Sample.channel, to: $0) }),
            text(try Written.lines { PacksCommand.write([], .nothing, Sample.channel, to: $0) }),
        ]
    }

    private func blocks() throws -> [String] {
        let block = "<!--sonicdiff-cart-->3<!--sonicdiff-cart-end-->"
        return try ["<p>3</p>", "<title>Cart</title>" + block, block + block + "\n<!-- sonicdiff\t-->"].map { page in
            text(
                try Written.lines {
                    BlocksCommand.write(SplitPage(Array(page.utf8)), to: $0, warnings: $0)
                }
            )
        }
    }

    private func listing() throws -> String {
        let listing = AppListing(
            app: Sample.app,
            roles: [
                .init(name: "root", version: 1, expires: Sample.before),
                .init(name: "targets", version: 1, expires: Sample.after),
            ],
            channels: [
                .init(
                    name: Sample.channel,
                    version: 7,
                    published: Sample.before,
                    patches: [
                        .init(
                            patchID: Sample.patch,
                            version: Sample.version,
                            kind: .bundle,
                            sha256: Sample.digest,
                            rollout: 5_000,
                            dial: row(paused: true),
                            size: 4_096,
                            assets: 30
                        )
                    ]
                ), .init(name: Sample.beta, version: 3, published: Sample.before, patches: []),
            ],
            drafts: [
                draftRow(isCurrent: true), draftRow(isCurrent: false), draftRow(isCurrent: true, isRead: false),
            ]
        )
        return text(try Written.lines { listing.write(to: $0, now: Sample.time) })
    }

    // MARK: care

    private func exported() throws -> [String] {
        let role = try DoctorTranscripts.role("production", Sample.before)
        let export = Export(app: Sample.app, change: change, unchanged: 1, roles: roles, endingBefore: [role])
        return ExportCommand.Report(export: export, counted: ["production web 1.4.2"]).lines(to: "/srv/www")
    }

    private func garbage() throws -> [String] {
        var tally = CollectGarbage.Tally()
        tally.add("targets", count: 2, bytes: 2_000)
        let reports = [
            GarbageCommand.Report(app: Sample.app, tally: tally, items: nil, places: 1),
            GarbageCommand.Report(app: Sample.app, tally: .init(), items: nil, places: 3),
            GarbageCommand.Report(app: Sample.app, tally: .init(), items: nil),
            GarbageCommand.Report(app: Sample.app, tally: .init(), items: nil, packs: (3, 157_000_000)),
        ]
        return try [true, false].flatMap { dryRun in
            try reports.map { report in text(try Written.lines { report.write(to: $0, dryRun: dryRun) }) }
        }
    }

    private func chain() throws -> AuditChain {
        var lines = AuditLines()
        let long = "{\"x\": \"" + String(repeating: "x", count: AuditLines.lineLimit) + "\"}\n"
        lines.take(Array(("no JSON\n{}\n" + long).utf8))
        return lines.finish()
    }

    private var tree: TreeReport {
        var report = TreeReport(app: Sample.app)
        report.faults = [
            TreeFault("tree/app/objects/5e/5e5e", .missing, "what was found"),
            TreeFault("incoming/5e5e", .leftover, "what was found"),
        ]
        report.repaired = [
            TreeFault("tree/app/objects/c1/c1c1", .altered, "what was found")
        ]
        report.counts.unreferenced = 2
        return report
    }

    private var restored: [RestoredServer.App] {
        let app = RestoredApp(
            app: Sample.app,
            channels: [Sample.channel: 7, Sample.beta: 3],
            signedAt: Sample.before,
            above: 1_000_041
        )
        let ended = ServerError.ended(role: "targets", expires: Sample.before, at: Sample.time).description
        return [
            .init(restored: app, report: TreeReport(app: Sample.app), signed: roles, unsigned: nil),
            .init(restored: app, report: tree, signed: nil, unsigned: ended),
            .init(restored: app, report: TreeReport(app: Sample.app), signed: nil, unsigned: nil),
        ]
    }

    // MARK: audit

    private static let actors: [Actor] = [.token(id: "5e5e", name: "CI"), .local(user: "ada"), .server]

    private static let faults: [AuditChain.Fault] = [
        .unreadable(row: 3, rule: "is not JSON"), .edited(row: 3, number: 3), .removed(4...4), .removed(4...6),
        .added(row: 7, number: 6), .misplaced(row: 8, number: 7, after: 9), .exchanged(row: 9, number: 9),
        .withoutHead(Sample.digest.hex),
    ]

    private static func entry(_ action: String, _ before: JSON, _ after: JSON) -> JSON {
        .fields([("action", .text(action)), ("before", before), ("after", after)])
    }

    private static let entries: [JSON] = [
        entry(
            "server.restore",
            .fields([("backup", .text(Sample.before.description))]),
            .fields([
                ("apps", .array([.fields([("app", .text(Sample.app.text)), ("above", .integer(1_000_041))])]))
            ])
        ), entry("draft.remove", .fields([("roleVersion", .integer(8))]), .null),
        entry(
            "clock.accept",
            .fields([("time", .text(Sample.after.description))]),
            .fields([("time", .text(Sample.time.description))])
        ),
        entry(
            "history.edit",
            .fields([("roleVersion", .integer(7))]),
            .fields([("roleVersion", .integer(7)), ("label", .text("May"))])
        ),
    ]
}

extension Sample {
    /// What an update costs, with a pack of so many bytes or without one.
    static func update(_ pack: Int?, _ summary: PackSummary?, isWhole: Bool = false) -> UpdateStep {
        UpdateStep(
            of: patch,
            from: version,
            to: version,
            by: BasePack(manifest: digest, base: digest),
            packBytes: pack,
            summary,
            signatures: 512,
            column: 30_000,
            otherwise: UpdateCost.Alternative(bytes: 41_234, isWhole: isWhole)
        )
    }
}

extension PackSummary {
    init(same: Int = 0, substituted: Int = 0, patched: Int = 0, plain: Int = 0, groups: Int) {
        self.init(
            bytes: 1_234,
            headBytes: 234,
            groups: groups,
            same: same,
            substituted: substituted,
            patched: patched,
            plain: plain
        )
    }
}
