import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

extension World {
    /// The app tells the device something; the next process goes by it.
    mutating func setFacts(_ change: (inout FactChanges) -> Void) async throws {
        var changes = FactChanges()
        change(&changes)
        try await store.changingConfiguration { [changes] configuration throws(SyncError) in
            changes.apply(to: &configuration)
        }
        device = try device.reopened(on: disk)
    }

    /// `+fix 2, web 1: reason`: what was taken, and what was passed over.
    static func words(_ report: SyncReport) -> [String] {
        report.decisions.flatMap { decision in
            var words = decision.passedOver.map { "\(decision.patchID) \($0.version): \($0.why)" }
            if case .take(let entry, over: _) = decision.choice { words.append("+\(entry.patchID) \(entry.version)") }
            return words
        }
    }
}

/// The server's own word leaves no device without its application.
@Suite("A bundle that is withdrawn")
struct WithdrawnBundleTests {
    private static func web(_ version: String, _ kind: PatchKind = .bundle, rollout: Int = 10_000) -> PatchEntry {
        entry("web", version, kind: kind, rules: PatchRules(rollout: rollout))
    }

    private static func row(rollout: Int = 10_000, paused: Bool = false, headcount: Int? = nil) -> Dial.Row {
        Dial.Row(
            patchID: web("1").patchID,
            sha256: web("1").fingerprint.sha256,
            rollout: rollout,
            paused: paused,
            reason: nil,
            headcount: headcount
        )
    }

    /// Version 2 runs here, and only version 1 is listed.
    private func choice(_ kind: PatchKind, listed: [PatchEntry], _ row: Dial.Row?) -> Choice {
        let running = InstalledPatch(Self.web("2", kind), column: nil)
        let context = EligibilityContext(
            device: DeviceFacts(deviceID: SimulatedDevice.id, time: UTCTime(seconds: 1_795_000_000)),
            dial: Dial(app: name("app"), channel: name("production"), rows: row.map { [$0] } ?? []),
            blocks: TrialBlocks(),
            transfers: TransferFailures(),
            unfit: UnfitVersions()
        )
        return Candidates(running.patchID, versions: listed, current: running, under: context).decision.choice
    }

    @Test(arguments: [row(paused: true), row(rollout: 0), row(headcount: 1)])
    func `stays while the dial holds back what would take its place`(_ row: Dial.Row) {
        let running = InstalledPatch(Self.web("2"), column: nil)
        #expect(choice(.bundle, listed: [Self.web("1")], row) == .keep(running))
        #expect(choice(.bundle, listed: [Self.web("1")], nil) == .take(Self.web("1"), over: running))
        let script = InstalledPatch(Self.web("2", .script), column: nil)
        #expect(choice(.script, listed: [Self.web("1", .script)], row) == .keep(script))
        #expect(
            choice(.script, listed: [Self.web("1", .script)], nil) == .take(Self.web("1", .script), over: script)
        )
    }

    @Test(arguments: [PatchKind.bundle, .script])
    func `goes where the release keys leave nothing in its place`(_ kind: PatchKind) {
        let running = InstalledPatch(Self.web("2", kind), column: nil)
        #expect(choice(kind, listed: [], Self.row(paused: true)) == .withdraw(running))
        #expect(choice(kind, listed: [Self.web("1", kind, rollout: 0)], nil) == .withdraw(running))
    }
}

/// Several requests may end while one batch is made durable.
@Suite("A sync whose every file fills a batch")
struct SmallBatchTests {
    @Test func `brings them all`() async throws {
        var world = try await World.running()
        var files = SampleApp.files1
        for number in 1...40 { files["many/\(number).js"] = "many(\(number));" }
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, .bundle("web", "9.0.0", files)])
        var batches = ObjectBatch.Bounds()
        batches.count = 1
        world.device.batches = batches
        let report = try await world.device.sync()
        #expect(report.staging == .staged && report.failures == [] && report.filesReceived >= 40)
    }
}

/// M3 and the gate before the assets.
@Suite("A bundle for another native part")
struct CompatibilityTests {
    private static let old = Platform(name: "ios", compatibility: "old")
    private static let new = Platform(name: "ios", compatibility: "new")

    private static func web(_ version: String, _ compatibility: [String: String]) -> SimulatedPatch {
        .bundle("web", version, ["index.html": "<p>\(version)</p>", "same.js": "same;"]).with {
            $0.compatibility = compatibility
        }
    }

    private func world(_ offered: [SimulatedPatch]) async throws -> World {
        var world = try await World.running([Self.web("1", ["ios": "old"])])
        try await world.setFacts { $0.platform = Self.old.map { .set($0) } ?? .keep }
        world.repository.publish(offered)
        return world
    }

    private static let offered = [web("3", ["ios": "new"]), web("2", ["ios": "old"]), web("1", ["ios": "old"])]

    @Test func `brings no asset, and the next listed version is taken in the same sync`() async throws {
        let world = try await world(Self.offered)
        let report = try await world.device.sync()
        #expect(report.staging == .staged)
        #expect(report.isComplete)
        #expect(
            World.words(report) == [
                "web 3: made for another native part; this device is ios old", "+web 2",
            ]
        )
        let requests = world.repository.takeRequests()
        #expect(requests.contains { $0.contains("web/3/") })
        #expect(requests.filter { $0.hasPrefix("objects/") } == [object("<p>2</p>")])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 2")
    }

    @Test func `is asked for once, and told in the status`() async throws {
        let world = try await world(Self.offered)
        try await world.device.sync()
        let row = try #require(try world.device.device.status().unfit.rows.first)
        #expect(row.value == .init(version: name("3"), platform: try #require(Self.old), needs: "new"))
        _ = world.repository.takeRequests()
        let again = try await world.device.sync()
        #expect(again.staging == .unchanged)
        #expect(World.words(again).count == 2)
        #expect(world.repository.takeRequests().filter { !$0.hasPrefix("metadata/") } == [])
    }

    @Test func `is taken once the native part is the one it is made for, and the other is remembered no more`()
        async throws
    {
        var world = try await world(Self.offered)
        try await world.device.sync()
        try await world.setFacts { $0.platform = Self.new.map { .set($0) } ?? .keep }
        #expect(try world.machine.state.phase == .settled, "what waited was chosen for the old one")
        let report = try await world.device.sync()
        #expect(World.words(report) == ["+web 3"])
        #expect(try world.device.device.status().unfit.rows.isEmpty)
    }

    @Test func `leaves the installed version, also where that is listed no more`() async throws {
        for offered in [[Self.web("2", ["ios": "new"])], [Self.web("2", [:])], [Self.web("2", ["android": "old"])]] {
            let world = try await world(offered)
            #expect(try await world.device.sync().staging == .unchanged)
            try world.expectWhole("web 1")
        }
    }

    @Test func `is no bar for a device that names no platform`() async throws {
        let world = try await World.running([Self.web("1", [:])])
        world.repository.publish([Self.web("2", ["ios": "new"])])
        #expect(try await world.device.sync().staging == .staged)
    }
}

/// J11, in the engine.
@Suite("A version that cannot be fetched")
struct TransferTests {
    private static let path = object("cart.total = 2;")
    private let content = PatchContent(
        patchID: name("fix-cart-total"),
        sha256: SHA256Digest(of: Array("cart.total = 2;".utf8))
    )

    private func world(_ fault: SimulatedRepository.Fault) async throws -> World {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        world.repository.fail(Self.path, with: fault)
        return world
    }

    private func failures(_ world: World) throws -> Int? {
        try world.device.device.state().transfers.counts[content]?.failures
    }

    @Test func `is not counted against while every break brings some bytes`() async throws {
        let world = try await world(.breaksOff(after: 3))
        _ = try? await world.device.sync()
        #expect(try failures(world) == nil)
    }

    @Test(
        arguments: [
            (.notFound, 3), (.bitFlipped(at: 0.5), 3), (.status(500), 5), (.timesOut, 5), (.connection, 5),
            (.breaksOff(after: 0), 5),
        ] as [(SimulatedRepository.Fault, Int)]
    )
    func `is not asked for after 3 failures, 5 where the network is at fault, until its wait ends`(
        fault: SimulatedRepository.Fault,
        limit: Int
    ) async throws {
        let world = try await world(fault)
        for count in 1...limit {
            _ = try? await world.device.sync()
            #expect(try failures(world) == count)
        }
        let until = try #require(try world.device.device.state().transfers.counts[content]?.until)
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(
            World.words(report) == [
                "fix-cart-total 2: could not be fetched \(limit) times; next try after \(until)"
            ]
        )
        #expect(!world.repository.takeRequests().contains(Self.path))
        world.repository.repair(Self.path)
        world.clock.advance(by: .hours(1))
        #expect(try await world.device.sync().staging == .staged)
        #expect(try failures(world) == nil, "a success forgets")
    }

    @Test func `is fetched at once when a person asks for it`() async throws {
        let world = try await world(.notFound)
        for _ in 1...3 { try await world.device.sync() }
        world.repository.repair(Self.path)
        var device = world.device
        device.retryNow = true
        #expect(try await device.sync().staging == .staged)
    }

    @Test func `is another than the next version, whose count begins anew`() async throws {
        let world = try await world(.notFound)
        for _ in 1...3 { try await world.device.sync() }
        world.repository.publish([.script("fix-cart-total", "3", "cart.total = 3;"), SampleApp.banner1, SampleApp.web1])
        #expect(try await world.device.sync().staging == .staged)
        #expect(try world.device.device.state().transfers == TransferFailures())
    }

    @Test func `has no failure when the server cannot be reached at all`() async throws {
        let world = try await world(.connection)
        world.repository.fail("metadata/timestamp.json", with: .connection)
        for _ in 1...9 { await #expect(throws: SyncError.self) { try await world.device.sync() } }
        #expect(try failures(world) == nil)
    }

    @Test func `has no failure while a poor network brings it closer, and one when nothing came`() async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2])
        world.repository.fail(object("new;"), with: .timesOut)
        #expect(try await world.device.sync().failures.count == 1)
        #expect(try world.device.device.state().transfers == TransferFailures(), "app/main.js came")
        try await world.device.sync()
        #expect(try world.device.device.state().transfers.counts.values.map(\.network) == [1])
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test func `does not keep what is installed from being healed`() async throws {
        let world = try await World.running()
        let path = world.store.objects.path(of: SHA256Digest(of: Array("show('one');".utf8)))
        try world.disk.overwrite(path, with: [1])
        world.repository.fail(object("show('one');"), with: .notFound)
        for _ in 1...4 { #expect(try await world.device.sync().failures.count == 1) }
        #expect(try world.device.device.state().transfers == TransferFailures())
        world.repository.repair(object("show('one');"))
        #expect(try await world.device.sync().healed.count == 1)
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }
}

@Suite("Patches that move together")
struct TogetherTests {
    @Test func `stay together when one of them does not come`() async throws {
        let world = try await World.running()
        let digest = SHA256Digest(of: Array("cart.total = 2;".utf8))
        let banner2 = SimulatedPatch.script("banner", "2", "show('two');").with {
            $0.requires = [name("fix-cart-total"): [digest]]
        }
        world.repository.publish([SampleApp.fix2, SampleApp.fix1, banner2, SampleApp.banner1, SampleApp.web1])
        world.repository.fail(object("cart.total = 2;"), with: .notFound)
        let report = try await world.device.sync()
        #expect(report.staging == .unchanged)
        #expect(report.failures.map(\.patchID.text) == ["fix-cart-total"])
        #expect(
            World.words(report) == [
                "banner 2: requires a version of fix-cart-total that this device does not get (could not be fetched)",
                "fix-cart-total 2: could not be fetched",
            ]
        )
        world.repository.repair(object("cart.total = 2;"))
        #expect(try await world.device.sync().staging == .staged)
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 2, fix-cart-total 2, web 1.0.0")
    }
}

/// J4 and E8.
@Suite("The moment from which a new version may run")
struct ActivationTimeTests {
    private static let script = entry("fix", "2")

    private static func entry(_ id: String, _ version: String, _ change: (inout PatchRules) -> Void = { _ in })
        -> PatchEntry
    {
        var rules = PatchRules.everyone
        change(&rules)
        return DeviceTesting.entry(id, version, rules: rules)
    }

    private static func bundle(_ change: (inout PatchRules) -> Void = { _ in }) -> PatchEntry {
        let script = entry("web", "2", change)
        return PatchEntry(
            patchID: script.patchID,
            kind: .bundle,
            version: script.version,
            url: script.url,
            fingerprint: script.fingerprint,
            signature: script.signature,
            salt: script.salt,
            rules: script.rules
        )
    }

    @Test(
        arguments: [
            ([], .atReload), ([bundle()], .atReload), ([script], .anyTime), ([script, bundle()], .atReload),
            ([bundle { $0.mandatory = true }], .atOnce), ([script, bundle { $0.mandatory = true }], .atOnce),
            ([entry("fix", "2") { $0.mandatory = true }, bundle()], .atOnce),
            ([entry("fix", "2") { $0.runAtNextLaunch = true }], .atNextLaunch),
            ([entry("fix", "2") { $0.runAtNextLaunch = true }, bundle { $0.mandatory = true }], .atNextLaunch),
        ] as [([PatchEntry], ActivationTime)]
    )
    func `is the latest that one of the new versions asks for`(taken: [PatchEntry], time: ActivationTime) {
        #expect(ActivationTime(taken: taken) == time)
    }

    private func world(_ change: (inout PatchRules) -> Void) async throws -> World {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2.with { change(&$0.rules) }])
        return world
    }

    @Test func `is the next launch for what says so, and no switch before it`() async throws {
        let world = try await world { $0.runAtNextLaunch = true }
        #expect(try await world.device.sync().activates == .atNextLaunch)
        await #expect(throws: SyncError.waitsForLaunch) { try await world.device.device.switchToPending() }
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 1, web 2.0.0")
    }

    @Test func `is kept in the state, and is a reload in older ones`() throws {
        for time in ActivationTime.allCases {
            var state = DeviceState()
            _ = state.machine.stage(selection(["fix 1"]).activating(time))
            #expect(try state.reread() == state)
            if time == .atReload { #expect(selection(["fix 1"]).json["activates"] == nil) }
        }
    }

    @Test func `becomes at once when what waits is made mandatory`() async throws {
        let world = try await world { _ in }
        #expect(try await world.device.sync().activates == .atReload)
        world.repository.publish([SampleApp.fix1, SampleApp.banner1, SampleApp.web2.with { $0.rules.mandatory = true }])
        #expect(try await world.device.sync().staging == .unchanged)
        guard case .pending(_, let next) = try world.machine.state else {
            Issue.record("nothing waits")
            return
        }
        #expect(next.activates == .atOnce)
    }
}

/// What an app tells of itself and its user.
@Suite("The facts that rules are judged by")
struct DeviceFactsTests {
    @Test func `are read back as they were written, and are absent in older stores`() throws {
        var configuration = DeviceConfiguration(
            app: name("app"),
            server: SimulatedDevice.server,
            channel: name("production")
        )
        for key in ["user", "data", "platform", "keep"] { #expect(configuration.json[key] == nil) }
        configuration.user = UserID("alice")
        configuration.data = facts(["Region": "eu", "isMale": "1"])
        configuration.platform = Platform(name: "ios", compatibility: "0abe")
        configuration.keep = 3
        #expect(try DeviceConfiguration(configuration.json.fileBytes, named: "config.json") == configuration)
    }

    @Test func `always hold ios, iosver and ispad, which the app may set`() throws {
        let facts = DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start)
        #expect(try Condition("ios==0.0&&iosver==0&&ispad==0").holds(for: facts.data))
        #expect(try !Condition("ios>=1").holds(for: facts.data))
        let other = DeviceFacts(
            deviceID: SimulatedDevice.id,
            data: DeviceTesting.facts(["iOS": "9.3"]),
            time: ManualClock.start
        )
        #expect(try Condition("ios==9.3&&ispad==0").holds(for: other.data))
    }

    @Test func `change one by one, and what is not named stays`() async throws {
        var world = try World([])
        try await world.setFacts {
            $0.user = .set(UserID("alice") ?? { preconditionFailure() }())
            $0.data = facts(["region": "eu", "beta": "1"]).mapValues { .set($0) }
        }
        try await world.setFacts {
            $0.appVersion = AppVersion("2").map { .set($0) } ?? .keep
            $0.data = facts(["beta": "1"]).mapValues { _ in .forget }
        }
        let configuration = world.device.device.configuration
        #expect(configuration.user?.text == "alice")
        #expect(configuration.data == facts(["region": "eu"]))
        #expect(configuration.appVersion?.text == "2")
        try await world.setFacts { $0.user = .forget }
        #expect(world.device.device.configuration.user == nil)
    }

    /// P8: a version change of the app judges again, from the cached list too.
    @Test func `judge anew when the app's version changes, without a new list`() async throws {
        var world = try await World.running()
        let range = AppVersionRange(">=3")
        let second = SampleApp.fix2.with { $0.rules.appVersion = range }
        world.repository.publish([second, SampleApp.fix1, SampleApp.banner1, SampleApp.web1])
        try await world.setFacts { $0.appVersion = AppVersion("2").map { .set($0) } ?? .keep }
        #expect(try await world.device.sync().staging == .unchanged)
        try await world.setFacts { $0.appVersion = AppVersion("3").map { .set($0) } ?? .keep }
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().staging == .staged)
        #expect(world.repository.takeRequests().filter { !$0.hasPrefix("metadata/") } == [object("cart.total = 2;")])
        try await world.setFacts { $0.appVersion = AppVersion("2").map { .set($0) } ?? .keep }
        #expect(try world.machine.state.phase == .settled, "what waits is not for this app any more")
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }
}

@Suite("What stays in a store")
struct RetentionTests {
    @Test func `is every object and bundle that a kept selection names, and nothing else`() throws {
        let kept = selection(["fix 2", "web 1"])
        let retention = try #require(Retention(keeping: [kept, selection(["fix 1"])]) { _ in nil })
        let objects = ["fix 2", "fix 1", "web 1"].map { installed($0).fingerprint.sha256 }
        #expect(retention.unused(objects: objects + [SHA256Digest(of: [1])]) == [SHA256Digest(of: [1])])
        #expect(retention.unused(bundles: [objects[2].hex, "lost+found"]) == [objects[2].hex, "lost+found"])
    }

    /// What is served is kept by nobody else once `keep` or a roll back lets it go.
    @Test(arguments: [
        (kept: ["fix 2"], served: [], gone: ["fix 1", "web 1"]),
        (kept: ["fix 2"], served: ["fix 1"], gone: ["web 1"]),
        (kept: ["fix 2"], served: ["fix 1", "web 1"], gone: []),
        (kept: [], served: ["fix 1"], gone: ["fix 2", "web 1"]),
        (kept: ["fix 2", "fix 1"], served: ["fix 1"], gone: ["web 1"]),
    ])
    func `is what is served besides`(kept: [String], served: [String], gone: [String]) throws {
        func digests(_ labels: [String]) -> [SHA256Digest] { labels.map { installed($0).fingerprint.sha256 } }
        let all = ["fix 2", "fix 1", "web 1"]
        let retention = try #require(
            Retention(
                keeping: kept.map { selection([$0]) },
                served: served.map { selection([$0]) },
                // Of a bundle that is served and cannot be read its manifest stays.
                manifest: { _ in nil }
            )
        )
        #expect(retention.unused(objects: digests(all)) == digests(gone))
    }

    @Test func `is unknown when the manifest of a kept bundle cannot be read, and no matter of a served one's`() {
        let script = entry("web", "1")
        let bundle = PatchEntry(
            patchID: script.patchID,
            kind: .bundle,
            version: script.version,
            url: script.url,
            fingerprint: script.fingerprint,
            signature: script.signature,
            salt: script.salt,
            requires: [:],
            rules: .everyone
        )
        let unreadable = selection(of: [InstalledPatch(bundle, column: nil)], number: 1)
        #expect(Retention(keeping: [unreadable], served: []) { _ in nil } == nil)
        let served = Retention(keeping: [], served: [unreadable]) { _ in nil }
        #expect(served?.unused(bundles: [bundle.fingerprint.sha256.hex]) == [])
    }
}
