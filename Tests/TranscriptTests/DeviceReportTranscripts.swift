import AssetServer
import DeviceOutput
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import CommandKit
import Testing

@testable import PatchChoice
@testable import PatchSync
@testable import PatchSyncCommand
@testable import Patchline

@Suite("What patchsync reports")
struct DeviceReportTranscripts {
    @Test func `of a device stands in its transcript`() throws {
        let key = try #require(ConditionKey("beta"))
        let facts = try facts
        var reports = Transcript(
            "patchsync-reports",
            about: "What patchsync says of a device, and of what it did with it."
        )
        reports.list("what runs after a command", activations.map(\.words))
        reports.list(
            "once another server is followed",
            [SelectionState.empty, .settled(web), .pending(good: nil, next: web), .pending(good: old, next: web)]
                .map(\.following)
        )
        reports.section(
            "set",
            [text(try Written.lines { facts.printFacts(servedBy: [server], on: $0) })]
                + [ownHost(try hosted(.own(.make()))), ownHost(try hosted(.shared(.localhost)))]
        )
        reports.list("set --entry-signatures", EntrySignatures.allCases.compactMap(\.words))
        reports.list("set --unset", [[], ["lang", "tier"]].map { SetFactsCommand.warning(of: key, $0) })
        let gone = Label(patchID: Sample.script, version: Sample.version)
        reports.list("unblock", ForgottenFailures([Sample.label, gone], unlisted: [gone]).lines)
        reports.list("a new build of the app", [StoreOptions.newBuild(web)])
        reports.section(
            "status",
            try machines.map { machine in
                text(try Written.lines { status(machine).print(facts, of: "/var/lib/app", on: $0) })
            }
        )
        reports.section(
            "sync",
            try syncs.map { sync in text(try Written.lines { sync.print(on: $0, errors: $0) }) }
        )
        reports.section(
            "sync --dry-run",
            try forecasts.map { look in text(try Written.lines { look.print(on: $0, errors: $0) }) }
        )
        reports.section(
            "explain",
            [text(try Written.lines { explained.print(to: $0, after: Self.failure(.noAnswer)) })]
        )
        reports.list(
            "a sync that failed",
            SyncFailureCode.allCases.map { Self.failure($0).sentence(at: Sample.time) }
                + [Self.failure(.diskFull, of: Sample.script).sentence(at: Sample.after)]
        )
        reports.list("a time zone that cannot be read", Self.zoneFaults.map { "\($0); \($0.hint)" })
        reports.list("explain, what would turn a rule", turns.map { $0.text { _ in "2 h" } })
        reports.list(
            "verify",
            [.missing, .differs("sha256"), .unreadable].map {
                FileFault(file: "web 1.4.2 a.js", wrong: $0, asset: nil).words
            }
        )
        reports.list(
            "a state that nobody can read",
            [.previous, .embedded, .nothing].map { standby in
                StateFault(file: "state.json", error: .format(Sample.format), standby: standby).description
            }
        )
        reports.list(
            "a file of the store",
            [
                SyncError.format(FormatError("\(Sample.digest).json", rule: StoreRule.name)),
                .unreadable(FormatError("state.json", rule: StoreRule.readBack)),
                .unreadable(FormatError("state.json", rule: StoreRule.selection)),
            ].map(\.description)
        )
        reports.list("serve", try listening() + [StopDeadline.overdue])
        try reports.check()
    }

    private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }
    private func ownHost(_ lines: [String]) -> String { text(lines.filter { $0.hasPrefix("pages: ") }) }

    // MARK: values

    private static func patch(_ version: VersionLabel, of id: PatchID = Sample.patch) -> InstalledPatch {
        InstalledPatch(
            PatchEntry(
                patchID: id,
                kind: .bundle,
                version: version,
                url: "web",
                fingerprint: Fingerprint(of: Array(version.text.utf8)),
                signature: EntrySignature(keyID: Sample.digest, bytes: []),
                salt: [],
                rules: .everyone
            ),
            column: nil
        )
    }

    private static let before = patch(Sample.named("1.4.1"))
    private static let now = patch(Sample.version)

    private static func selection(_ patch: InstalledPatch) -> Selection {
        Selection(number: 3, roleVersion: 7, patches: [patch], entryKeys: .none)
    }

    private let old = Self.selection(Self.before)
    private let web = Self.selection(Self.now)
    /// With a patch that the next selection lacks.
    private let both = Selection(
        number: 3,
        roleVersion: 7,
        patches: [Self.patch(Sample.named("2"), of: Sample.script), Self.before],
        entryKeys: .none
    )
    private let server = RunningServer(process: 4_711, port: 8_081, host: .own)

    private static func token() throws -> LaunchToken {
        try #require(LaunchToken(String(repeating: "5e", count: 16)))
    }

    private var activations: [SelectionMachine.Activation] {
        [
            .nothing, .run(web, removed: []), .run(web, removed: [Sample.script]), .rolledBack(to: old, from: web),
            .rolledBack(to: nil, from: web), .unproven(web), .interrupted(to: old, damaged: web),
            .interrupted(to: nil, damaged: web),
        ]
    }

    private var facts: DeviceConfiguration {
        get throws {
            var facts = DeviceConfiguration(
                app: Sample.app,
                server: try #require(ServerURL("https://updates.example.com")),
                channel: Sample.channel
            )
            facts.access.pins = [PublicKeyPin(digest: Sample.digest)]
            facts.access.mirrors = [try #require(ServerURL("https://mirror.example.com"))]
            facts.access.authorities = "PEM"
            facts.data = [try #require(ConditionKey("lang")): try #require(ConditionValue("de"))]
            facts.answers = true
            facts.reserve = 64_000_000
            facts.embedded = "/usr/share/app/shipped"
            facts.network.isMetered = true
            (facts.network.allowance, facts.network.rate) = (20_000, 500_000)
            return facts
        }
    }

    private func hosted(_ name: PagesName) throws -> [String] {
        var facts = try facts
        facts.pages = name
        let server = RunningServer(process: 4_711, port: 8_081, host: .address)
        return try Written.lines { facts.printFacts(servedBy: [server], on: $0) }
    }

    // MARK: status

    private var machines: [SelectionMachine] {
        get throws {
            let token = try Self.token()
            return [
                SelectionMachine(state: .settled(web), earlier: [], embedded: web),
                SelectionMachine(
                    state: .trying(good: nil, trial: web, launch: .init(token: token, launches: 1, isCounted: false)),
                    earlier: []
                ),
                SelectionMachine(
                    state: .trying(
                        good: old,
                        trial: web,
                        launch: .init(token: token, launches: 2, isCounted: false, error: Self.pageError)
                    ),
                    earlier: []
                ),
                SelectionMachine(state: .pending(good: both, next: web), earlier: [], withdrawn: [Self.before.content]),
            ]
        }
    }

    private func status(_ machine: SelectionMachine) -> StatusReport {
        let retries: [StatusReport.Retry] = [.waits, .blocked, .free, .onTrial, .notListed]
        let patches = (0..<5).map { Self.patch(Sample.named("1.\($0)")) }
        var machine = machine
        var (unfit, putOff) = (UnfitVersions(), DeferredVersions())
        for (patch, bytes) in zip(patches, [48_000, nil]) {
            putOff.add(patch.content, .init(version: patch.version, bytes: bytes))
        }
        for (index, patch) in patches.enumerated() {
            machine.blocks.fail(
                [patch],
                because: index == 1 ? .person : .timer,
                at: Sample.time,
                error: index == 0 ? Self.pageError : nil
            )
            guard index < 2, let platform = Platform(name: "linux", compatibility: "5e5e") else { continue }
            let needs = index == 0 ? "c1c1" : nil
            unfit.add(patch.content, .init(version: patch.version, platform: platform, needs: needs))
        }
        return StatusReport(
            phase: .settled,
            rows: [],
            machine: machine,
            lastSync: DeviceState.LastSync(at: Sample.before, roleVersion: 7),
            syncFailure: machine.earlier.isEmpty ? Self.failure(.diskFull) : nil,
            time: Sample.time,
            transfers: TransferFailures(),
            unfit: unfit,
            putOff: putOff,
            noRoom: noRoom,
            zoneFault: Self.zoneFaults.first,
            decisions: [],
            retries: Dictionary(uniqueKeysWithValues: zip(patches.map(\.content), retries)),
            fault: nil,
            damagedState: "/var/lib/app/state.json.damaged"
        )
    }

    private static let pageError = PageError(message: "Uncaught Error: no cart", source: "/app.js", line: 3, column: 9)

    private static func failure(_ code: SyncFailureCode, of patch: PatchID? = nil) -> SyncFailure {
        SyncFailure(
            time: Sample.time,
            since: Sample.before,
            inARow: 3,
            code: code,
            text: "the disk is full",
            label: patch.map { Label(patchID: $0, version: Sample.named("1.4.2")) }
        )
    }

    private static var zoneFaults: [ZoneFault] {
        guard let zone = WindowZone("Europe/Berlin") else { return [] }
        return [
            .unknown(zone, "/usr/share/zoneinfo"), .noDatabase("/usr/share/zoneinfo"), .noLocalZone("/etc/localtime"),
            .unreadable(zone, "/usr/share/zoneinfo/Europe/Berlin ends early"),
        ]
    }

    // MARK: sync

    static func synced(_ failures: [PatchFailure]) -> SyncReport {
        SyncReport(
            roleVersion: 7,
            decisions: [],
            refused: [],
            failures: failures,
            filesReceived: 3,
            bytesReceived: 1_234,
            healed: [],
            staging: .unchanged,
            activates: .atNextLaunch,
            staleMirror: nil,
            keptEmbedded: nil,
            mirrors: [],
            unanswered: nil,
            ignoredAnswers: []
        )
    }

    private func sync(
        _ staging: SelectionMachine.Staging,
        _ activates: ActivationTime = .atNextLaunch,
        _ stale: StaleMirror? = nil,
        unanswered: SyncError? = nil
    ) -> SyncReport {
        let wrong: [MirrorFault.Wrong] = [.failed(.fetch(.newerList)), .lied(.nothingInstalled)]
        return SyncReport(
            roleVersion: 7,
            decisions: [],
            refused: [],
            failures: [],
            filesReceived: 3,
            bytesReceived: 1_234,
            // What is taken at once came compressed.
            bytesTransferred: activates == .atOnce ? 410 : 1_234,
            healed: [],
            staging: staging,
            activates: activates,
            staleMirror: stale,
            keptEmbedded: unanswered == nil ? nil : 9,
            mirrors: unanswered == nil ? [] : wrong.map { MirrorFault(server: "mirror.example.com", wrong: $0) },
            unanswered: unanswered,
            ignoredAnswers: [],
            parameters: unanswered.map { .kept(because: $0) } ?? .unchanged
        )
    }

    private var putOff: [DeferredVersion] {
        [
            MeteredWait(cost: 48_000, left: 20_000), MeteredWait(cost: 48_000, left: 0, together: [Sample.script]),
            MeteredWait(cost: nil, left: 20_000),
        ].map { wait in
            DeferredVersion(content: Self.now.content, version: Self.now.version, size: .exactly(48_000), wait: wait)
        }
    }

    private var noRoom: [OversizedVersion] {
        [OversizedVersion(content: Self.now.content, label: Self.now.label, wait: Sample.noRoom)]
    }

    private var syncs: [SyncReport] {
        var metered = sync(.unchanged)
        (metered.putOff, metered.noRoom) = (putOff, noRoom)
        let lags = [Sample.before, Sample.time].map {
            StaleMirror(offered: 6, known: 7, signedAt: $0, clock: Sample.time)
        }
        return ActivationTime.allCases.map { sync(.staged, $0) } + lags.map { sync(.unchanged, .atNextLaunch, $0) }
            + [.unstaged, .trialRunning, .superseded, .refused(Sample.format)].map { sync($0) }
            + [sync(.unchanged, unanswered: .fetch(.stalled("answer"))), metered]
    }

    // MARK: dry run

    private var forecasts: [SyncForecast] {
        let whole = WireSize.about(346_000)
        let costs: [(SyncForecast.Task, TransferCost)] = [
            (.take, TransferCost(way: .file, size: .exactly(310))),
            (
                .take,
                TransferCost(way: .packs(from: Self.before.version, count: 1), size: .exactly(12_300), whole: whole)
            ),
            (
                .take,
                TransferCost(
                    way: .packs(from: Self.before.version, count: 2),
                    size: .about(12_300),
                    whole: whole
                )
            ),
            (.take, TransferCost(way: .wholePack, size: .exactly(346_000))),
            (.take, TransferCost(way: .packRanges, size: .about(123_000), whole: whole)),
            (.take, TransferCost(way: .singleObjects, size: .about(20_000), whole: whole)),
            (.take, .nothing), (.heal, TransferCost(way: .singleObjects, size: .exactly(900))), (.keep, .nothing),
        ]
        let open = (SyncForecast.Task.take, TransferCost(way: .open, size: whole, whole: whole))
        let unknown = (SyncForecast.Task.take, TransferCost(way: .open, size: .unknown, whole: .unknown))
        var full = forecast([open])
        full.noRoom = noRoom
        return [
            full, forecast(costs), forecast([open], isTrial: true), forecast([unknown], isUnasked: true), forecast([]),
        ]
    }

    private func forecast(
        _ costs: [(SyncForecast.Task, TransferCost)],
        isTrial: Bool = false,
        isUnasked: Bool = false
    ) -> SyncForecast {
        SyncForecast(
            roleVersion: 7,
            decisions: [],
            refused: [],
            staleMirror: nil,
            keptEmbedded: nil,
            mirrors: [],
            ignoredAnswers: [],
            isUnasked: isUnasked,
            isTrial: isTrial,
            metadata: 4_100,
            rows: costs.map { task, cost in
                .init(
                    patchID: Sample.patch,
                    kind: .bundle,
                    version: Sample.version,
                    current: Self.before.version,
                    task: task,
                    cost: cost
                )
            }
        )
    }

    // MARK: serve

    private func listening() throws -> [String] {
        let token = AccessToken(random: [UInt8](repeating: 0xAB, count: 16))
        return try Written.lines { console in
            let launch = LaunchEvents(json: false, store: "/var/lib/app", out: console, errors: console)
            let open = LocalServer.Address(port: 8_081, token: nil, host: LocalServer.Address.sharedHost)
            launch.listening(open, urlIn: nil, isSecret: false)
            launch.listening(
                LocalServer.Address(port: 8_081, token: token, host: LocalServer.Address.sharedHost),
                urlIn: "/run/app/url",
                isSecret: false
            )
            launch.listening(
                LocalServer.Address(port: 8_081, token: token, host: LocalServer.Address.sharedHost),
                urlIn: nil,
                isSecret: true
            )
            var metered = sync(.unchanged)
            metered.putOff = putOff
            for report in [sync(.staged), sync(.unchanged), metered] { launch.take(.synced(.success(report))) }
        }
    }
}
