import AssetServer
import DeviceTesting
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import Patchline
import SystemPackage
import PageTesting
import Testing

/// An app on a simulated device, and what it tells about itself.
struct Launched {
    let clock: ManualClock
    let repository: SimulatedRepository
    let disk = FaultyFiles()
    let device: SimulatedDevice
    let server: AssetServer
    private let events: AsyncStream<DeviceEvent>
    private let reported: AsyncStream<DeviceEvent>.Continuation

    init() throws {
        clock = ManualClock()
        repository = SimulatedRepository(clock: clock)
        (events, reported) = AsyncStream.makeStream(of: DeviceEvent.self)
        device = try SimulatedDevice(of: repository, clock: clock, on: disk)
        server = .open()
    }

    func publish(_ version: String, rules: PatchRules = .everyone) async throws {
        repository.publish([
            .bundle("web", version, ["index.html": "<p>\(version)</p>", "same.js": "same;"], rules: rules)
        ])
        try await device.sync()
    }

    /// - Parameters:
    ///   - timeout: the startup timer; zero has ended as soon as anybody looks.
    ///   - start: with the launch, unless a test is about pages.
    func app(
        timeout: Duration = .seconds(3_600),
        start: TrialStart = .launch,
        updates: Updates? = nil,
        gate: SyncGate = SyncGate(),
        turnedAway: @escaping @Sendable () -> Int = { 0 },
        waiting: RunningApp.Waiting? = nil,
        changing change: (inout RunningApp.Settings) -> Void = { _ in }
    ) -> RunningApp {
        var settings = RunningApp.Settings()
        settings.startupTimeout = timeout
        settings.startupTimer = start
        settings.watchInterval = .milliseconds(1)
        settings.unwatchedInterval = .milliseconds(1)
        change(&settings)
        let app = RunningApp(
            device: device.device,
            server: server,
            updates: updates,
            gate: gate,
            settings: settings,
            turnedAway: turnedAway,
            waiting: waiting
        ) { [reported] in reported.yield($0) }
        server.connect(app)
        return app
    }

    /// Runs the app until it has told of as many events as are expected.
    func expect(
        _ expected: [String],
        from app: RunningApp,
        meanwhile: () async throws -> Void = {},
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let running = Task { await app.run() }
        try await meanwhile()
        let found = await nextEvents(expected.count)
        running.cancel()
        await running.value
        #expect(found == expected, sourceLocation: location)
    }

    func nextEvents(_ count: Int) async -> [String] {
        var found: [String] = []
        var iterator = events.makeAsyncIterator()
        while found.count < count, let event = await iterator.next() { found.append(event.summary) }
        return found
    }

    func nextSetback() async -> Setback? {
        var iterator = events.makeAsyncIterator()
        while let event = await iterator.next() {
            if case .rolledBack(_, _, let setback) = event { return setback }
        }
        return nil
    }

    func status(of target: String) async throws -> String { try await server.get(target).summary }
}

extension DeviceEvent {
    fileprivate var summary: String {
        func labels(_ selection: Selection?) -> String {
            selection.map { $0.patches.map(\.label.description).joined(separator: ", ") } ?? "nothing"
        }
        return switch self {
        case .nothingInstalled: "nothing installed"
        case .following(let channel): "following \(channel)"
        case .serving(let selection, let trial): "serving \(labels(selection))" + (trial == nil ? "" : " on trial")
        case .withdrawn(let ids): "withdrawn \(ids.map(\.text).joined(separator: ", "))"
        case .damaged(let files): "damaged \(files.joined(separator: ", "))"
        case .confirmed(let selection): "confirmed \(labels(selection))"
        case .rolledBack(let good, let bad, _): "back to \(labels(good)) from \(labels(bad))"
        case .scriptFailed(let failure): "\(failure)"
        case .scriptsLeftOut(let page, let reason): reason.words(page)
        case .stalePage(let version): DeviceEvent.words(ofStalePage: version)
        case .unproven(let selection): "unproven \(labels(selection))"
        case .superseded(let selection, let next):
            "\(labels(selection)) superseded by \(next.patches.isEmpty ? "nothing" : labels(next))"
        case .bundleMissing(let id, let there): "no bundle \(id), but \(there.map(\.text).joined(separator: ", "))"
        case .stateFault(let fault): "state \(fault.standby)"
        case .parametersChanged(let parameters): "parameters \(parameters.values.count)"
        case .trouble(let error): "trouble \(error)"
        default: "no event of an app: \(self)"
        }
    }
}

@Suite("A running app", .timeLimit(.minutes(10)))
struct RunningAppTests {
    @Test func `serves nothing before the first sync, and tries its first version as soon as that is there`()
        async throws
    {
        let world = try Launched()
        let app = world.app()
        try await app.launch()
        #expect(try await world.status(of: "/") == "503")
        try await world.expect(["nothing installed", "serving web 1 on trial"], from: app) {
            try await world.publish("1")
        }
        #expect(try await world.server.get("/").file != nil)
    }

    @Test func `tells of the confirmation that another process wrote`() async throws {
        let world = try Launched()
        try await world.publish("1")
        let app = world.app()
        try await app.launch()
        try await world.expect(["serving web 1 on trial", "confirmed web 1", "serving web 1"], from: app) {
            _ = try await world.device.device.confirm(SimulatedDevice.token(1))
        }
    }

    @Test func `calls a first version that is withdrawn while it is on trial confirmed by nobody`() async throws {
        let world = try Launched()
        try await world.publish("1")
        let app = world.app()
        try await app.launch()
        let expected = ["serving web 1 on trial", "web 1 superseded by nothing", "serving web 1"]
        try await world.expect(expected, from: app) {
            world.repository.publish([])
            try await world.device.sync()
        }
    }

    /// No page of the trial was shown, so a sync may replace it.
    @Test(arguments: [
        (false, "serving web 1"), (true, "serving web 3 on trial"),
    ])
    func `gives the reason when a newer release replaces a trial before its result`(
        isMandatory: Bool,
        after: String
    ) async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(start: .firstPage)
        try await app.launch()
        try await world.expect(["serving web 2 on trial", "web 2 superseded by web 3", after], from: app) {
            try await world.publish("3", rules: PatchRules(mandatory: isMandatory))
        }
    }

    @Test func `does not call a trial that a person rolled back superseded`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(start: .firstPage)
        try await app.launch()
        try await world.expect(["serving web 2 on trial", "serving web 1"], from: app) {
            _ = try await world.device.device.rollBack()
        }
    }

    @Test func `notices what another process wrote before it began to watch`() async throws {
        let world = try Launched()
        try await world.publish("1")
        let app = world.app()
        try await app.launch()
        _ = try await world.device.device.confirm(SimulatedDevice.token(1))
        try await world.expect(["serving web 1 on trial", "confirmed web 1", "serving web 1"], from: app)
    }

    @Test func `follows another channel that somebody chose, and goes on serving what proved itself`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app()
        try await app.launch()
        _ = await world.nextEvents(1)
        let (device, beta) = (world.device.device, SimulatedRepository.beta)
        try await world.expect(["following beta", "serving web 1"], from: app) {
            _ = try await device.following(channel: beta)
        }
        let production = try await device.following(channel: SimulatedRepository.production)
        guard case .trying(_, let trial, let launch) = try production.state().machine.state else {
            Issue.record("the trial did not stay")
            return
        }
        #expect(trial.patches.map(\.version.text) == ["2"])
        #expect(launch.launches == 0, "that launch does not count")
    }

    @Test func `tells pages and the app of parameters that another process fetched, once`() async throws {
        let world = try Launched()
        world.repository.setParameters(["banner": .text("Sale")])
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        _ = await world.nextEvents(1)
        let first = await app.parameters()
        #expect(first.values.values.map(\.words) == ["Sale"])
        #expect(world.server.events.recent.last == .parameters(tag: first.tag))
        try await world.expect(["parameters 2"], from: app) {
            world.repository.setParameters(["banner": .text("Sale"), "limit": .integer(2)])
            try await world.device.sync()
        }
        let second = await app.parameters()
        #expect(second.values.count == 2)
        #expect(world.server.events.recent.last == .parameters(tag: second.tag))
        try await world.expect(["parameters 0"], from: app) {
            world.repository.setParameters(nil)
            try await world.device.sync()
        }
        #expect(world.server.events.recent.last == .parameters(tag: nil))
    }

    @Test func `goes on with the last good parameters when the file of the new ones is none`() async throws {
        let world = try Launched()
        world.repository.setParameters(["banner": .text("Sale")])
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        _ = await world.nextEvents(1)
        let path = world.device.store.parametersFile(SimulatedRepository.production)
        try world.disk.replace("parameters.json", in: path.removingLastComponent(), with: [0x7B])
        let running = Task { await app.run() }
        #expect(await world.nextEvents(1).first?.hasPrefix("trouble ") == true)
        running.cancel()
        await running.value
        #expect(await app.parameters().values.count == 1)
    }

    @Test func `serves the old version until the switch, and the new one after it`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        try await world.publish("2")
        try await world.expect(["serving web 1", "serving web 2 on trial"], from: app) {
            _ = try await world.device.device.switchToPending()
        }
    }

    @Test(arguments: [(nil, "admin.js", "shop.js"), ("shop", "shop.js", "admin.js")] as [(String?, String, String)])
    func `serves one of two bundles: the first by its id, or the one that the settings name`(
        id: String?,
        served: String,
        other: String
    ) async throws {
        let world = try Launched()
        world.repository.publish([
            .bundle("admin", "1", ["index.html": "<p>admin</p>", "admin.js": "admin;"]),
            .bundle("shop", "1", ["index.html": "<p>shop</p>", "shop.js": "shop;"]),
        ])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let app = world.app(changing: { $0.bundle = id.flatMap { PatchID($0) } })
        try await app.launch()
        try await world.expect(["serving admin 1, shop 1"], from: app)
        #expect(try await world.server.get("/\(served)").file != nil)
        #expect(try await world.status(of: "/\(other)") == "404")
    }

    /// E8.
    @Test func `switches to a mandatory version at once`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        try await world.expect(["serving web 1", "serving web 2 on trial"], from: app) {
            try await world.publish("2", rules: PatchRules(mandatory: true))
        }
    }

    /// J4.
    @Test func `starts what waits for the next launch by no reload, and at the next launch`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        try await world.publish("2", rules: PatchRules(runAtNextLaunch: true))
        await #expect(throws: SyncError.waitsForLaunch) { try await app.startPending() }
        try await world.app().launch()
        #expect(await world.nextEvents(2) == ["serving web 1", "serving web 2 on trial"])
    }

    /// J4, where nothing runs yet: the next launch is the next launch.
    @Test func `serves a first version that waits for the next launch at the next launch`() async throws {
        let world = try Launched()
        let app = world.app()
        try await app.launch()
        try await world.publish("1", rules: PatchRules(runAtNextLaunch: true))
        await #expect(throws: SyncError.waitsForLaunch) { try await app.startPending() }
        #expect(try await world.status(of: "/") == "503")
        try await world.app().launch()
        #expect(await world.nextEvents(2) == ["nothing installed", "serving web 1 on trial"])
    }

    /// M11.
    @Test func `starts what waits when the page reloads`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        await #expect(throws: SyncError.nothingPending) { try await app.startPending() }
        try await world.publish("2")
        try await app.startPending()
        #expect(await world.nextEvents(2) == ["serving web 1", "serving web 2 on trial"])
    }

    /// M12: the timer stands still, and a process that is killed there has not failed.
    @Test func `rolls nothing back in the background, and a launch that ends there does not count`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(timeout: .zero)
        try await app.launch()
        try await app.background()
        let machine = try world.device.device.state().machine
        guard case .trying(_, _, let launch) = machine.state else {
            Issue.record("no trial is running")
            return
        }
        #expect(launch.launches == 0)
        try await world.expect(["serving web 2 on trial", "confirmed web 2", "serving web 2"], from: app) {
            _ = try await world.device.device.confirm(launch.token)
        }
    }

    @Test func `goes on with the timer when it is in front again, and the launch counts`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(timeout: .zero)
        try await app.launch()
        try await app.background()
        try await app.foreground()
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else {
            Issue.record("no trial is running")
            return
        }
        #expect(launch.launches == 1 && launch.isCounted)
        try await world.expect(["serving web 2 on trial", "back to web 1 from web 2", "serving web 1"], from: app)
    }

    @Test func `serves nothing of a bundle that was deleted, from the next launch on`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        world.repository.publish([])
        try await world.device.sync()
        #expect(try await world.server.get("/").file != nil, "until then")
        let next = world.app()
        try await next.launch()
        #expect(try await world.status(of: "/") == "503")
        #expect(await world.nextEvents(2).first == "serving web 1")
    }

    @Test func `is not rolled back while its server turns clients away`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        // At each look some more; after the flood never again.
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        let flood = NIOLockedValueBox((isOver: false, count: 0))
        let app = world.app(timeout: .zero) {
            look.yield()
            return flood.withLockedValue { flood in
                if !flood.isOver { flood.count += 1 }
                return flood.count
            }
        }
        try await app.launch()
        try await world.expect(["serving web 2 on trial", "back to web 1 from web 2", "serving web 1"], from: app) {
            var seen = 0
            for await _ in looks {
                seen += 1
                if seen == 20 { break }
            }
            guard case .trying = try world.device.device.state().machine.state else {
                Issue.record("rolled back meanwhile")
                return
            }
            flood.withLockedValue { $0.isOver = true }
        }
    }

    @Test func `rolls back by itself when the startup timer ends`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let app = world.app(timeout: .zero)
        try await app.launch()
        try await world.expect(["serving web 2 on trial", "back to web 1 from web 2", "serving web 1"], from: app)
    }

    @Test(arguments: [true, false])
    func `lets a trial whose file is damaged wait again, and has a sync mend it first where it may`(syncs: Bool)
        async throws
    {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let updates = Updates(.init(), events: world.server.events, isInstalled: { true }, report: { _ in }) {
            _,
            _ throws(SyncError) in
            ask.yield()
            throw .nothingInstalled
        }
        let syncing = Task { await updates.run() }
        let app = world.app(timeout: .zero, updates: syncs ? updates : nil)
        try await app.launch()
        let page = SHA256Digest(of: Array("<p>2</p>".utf8))
        try world.disk.overwrite(world.device.store.objects.path(of: page), with: [])
        let damage = Array(repeating: "damaged web 2 index.html", count: syncs ? 2 : 1)
        try await world.expect(["serving web 2 on trial"] + damage + ["serving web 1"], from: app)
        if syncs { for await _ in asked { break } }
        syncing.cancel()
        await syncing.value
        #expect(try world.device.device.state().machine.blocks == TrialBlocks())
    }

    @Test func `that stops before its trial is decided has not used a launch up`() async throws {
        let world = try Launched()
        try await world.publish("1")
        for _ in 1...3 {
            let app = world.app()
            try await app.launch()
            try await world.expect(["serving web 1 on trial"], from: app)
        }
    }

    @Test(arguments: [true, false])
    func `serves a file that was damaged before it started again once a sync has healed it`(isOnTrial: Bool)
        async throws
    {
        let world = try Launched()
        try await world.publish("1")
        if !isOnTrial { try await world.device.launchAndConfirm() }
        try world.disk.overwrite(try world.path(of: "same.js"), with: [1, 2, 3])
        let app = world.app()
        try await app.launch()
        try await world.expectHealing(of: "same.js", after: "serving web 1" + (isOnTrial ? " on trial" : ""))
    }

    @Test func `serves no file that is altered while it is served, until a sync has healed it`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        #expect(try await world.server.get("/same.js").file != nil)
        try world.disk.overwrite(try world.path(of: "same.js"), with: Array("SAME;".utf8))
        try await world.expectHealing(of: "same.js", after: "serving web 1")
    }

    @Test func `serves what was written again with the same bytes, under its new stamp`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        let before = try #require(try await world.server.get("/same.js").file?.identity)
        try world.disk.overwrite(try world.path(of: "same.js"), with: Array("same;".utf8))
        let after = try #require(try await world.server.get("/same.js").file?.identity)
        #expect(after != before)
        #expect(try await world.server.get("/same.js").file?.identity == after)
    }

    @Test func `serves a file that could not be read as soon as it can`() async throws {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let app = world.app()
        try await app.launch()
        let path = try world.path(of: "same.js")
        try world.disk.overwrite(path, with: Array("same;".utf8))
        world.disk.failReads(of: path)
        for _ in 1...2 { #expect(try await world.status(of: "/same.js") == "503") }
        world.disk.failReads(of: nil)
        #expect(try await world.server.get("/same.js").file != nil)
        #expect(await world.nextEvents(2) == ["serving web 1", "damaged web 1 same.js"])
    }

    @Test func `serves nothing of a bundle whose manifest and index are gone, until a sync has healed them`()
        async throws
    {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let store = world.device.store
        let bundle = try #require(try world.disk.list(store.bundles).first)
        let digest = try #require(SHA256Digest(hex: bundle))
        try world.disk.remove(store.root.appending("indexes").appending(bundle))
        try world.disk.overwrite(store.objects.path(of: digest), with: [1])
        let app = world.app()
        try await app.launch()
        #expect(try await world.status(of: "/same.js") == "503")
        try await world.expect(["damaged web 1 manifest", "serving web 1", "serving web 1"], from: app) {
            world.clock.advance(by: .seconds(1))
            try await world.device.sync()
        }
        #expect(try await world.server.get("/same.js").file != nil)
    }
}

extension Launched {
    fileprivate func path(of asset: String) throws -> FilePath {
        let bundle = try #require(try disk.list(device.store.bundles).first)
        return device.store.bundles.appending(bundle).appending(asset)
    }

    fileprivate func expectHealing(of asset: String, after serving: String) async throws {
        for _ in 1...2 { #expect(try await status(of: "/\(asset)") == "503") }
        #expect(await nextEvents(2) == [serving, "damaged web 1 \(asset)"])
        clock.advance(by: .seconds(1))
        try await device.sync()
        #expect(try await server.get("/\(asset)").file != nil)
    }
}
