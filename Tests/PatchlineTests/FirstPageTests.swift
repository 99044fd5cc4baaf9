import AssetServer
import DeviceTesting
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchCrypto
import Patchline
import PageTesting
import Testing

/// F1: what counts against a trial, and from when on.
@Suite("The first page of a version on trial", .timeLimit(.minutes(5)))
struct FirstPageTests {
    /// The second version waits, and the first one is confirmed.
    private static func launched() async throws -> Launched {
        let world = try Launched()
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        return world
    }

    private static func launches(_ world: Launched) throws -> Int? {
        guard case .trying(_, _, let launch) = try world.device.device.state().machine.state else { return nil }
        return launch.launches
    }

    @Test func `starts its timer: while nobody asks for one nothing is rolled back`() async throws {
        let world = try await Self.launched()
        let app = world.app(timeout: .zero, start: .firstPage)
        try await app.launch()
        try await world.expect(
            ["confirmed web 2", "serving web 2"],
            from: app
        ) {
            world.repository.setParameters(["a": .integer(1)])
            try await world.device.sync()
            #expect(await world.nextEvents(2) == ["serving web 2 on trial", "parameters 1"])
            world.repository.setParameters(["a": .integer(1), "b": .integer(2)])
            try await world.device.sync()
            #expect(await world.nextEvents(1) == ["parameters 2"])
            _ = try await world.device.device.confirm(SimulatedDevice.token(2))
        }
    }

    /// A 404 in place of a page, and a file that is no HTML, have no stamp: they count as shown when they are sent.
    @Test(arguments: ["/", "/index.html", "/some/route", "/favicon.ico", "/same.js"])
    func `counts its launch, durably, when it is shown`(target: String) async throws {
        let world = try await Self.launched()
        let app = world.app(start: .firstPage)
        try await app.launch()
        for _ in 1...2 {
            #expect(try await world.server.show(target).summary != "503")
            let stored = try world.device.reopened(on: world.disk.crashed(.lose)).device.state().machine.state
            guard case .trying(_, _, let launch) = stored else {
                Issue.record("no trial")
                return
            }
            #expect(launch.launches == 1 && launch.isCounted)
        }
    }

    @Test(arguments: [
        [("User-Agent", "curl/8.5.0"), ("Accept", "*/*")], [("Accept", "text/html")], [("Sec-Fetch-Dest", "empty")],
        [("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "navigate")], [("Service-Worker", "script")],
        [("Sec-Fetch-Dest", "serviceworker")], [("Sec-Fetch-Dest", "iframe")],
        [("Sec-Fetch-Dest", "document"), ("Sec-Purpose", "prefetch")],
        [("Sec-Fetch-Dest", "document"), ("Sec-Purpose", "prefetch;prerender")],
        [("Sec-Fetch-Dest", "document"), ("Purpose", "prefetch")],
        [("Sec-Fetch-Dest", "document"), ("X-Moz", "prefetch")],
    ])
    func `is none that a program, a monitor, a prefetch or a worker asks for`(fields: [(String, String)]) async throws {
        let world = try await Self.launched()
        let app = world.app(start: .firstPage)
        try await app.launch()
        for target in ["/", "/index.html", "/same.js", "/favicon.ico", "/__patchline/launch.js", "/__patchline/status"]
        {
            for method in [HTTPMethod.GET, .HEAD] {
                _ = await world.server.answer(try request(target, fields, method: method))
            }
        }
        #expect(try Self.launches(world) == 0)
        // Nor does a document that its browser has not shown yet.
        _ = try await world.server.get("/", ("Sec-Fetch-Dest", "document"))
        #expect(try Self.launches(world) == 0)
    }

    @Test func `that kills the process at once is asked for in two launches, and no more`() async throws {
        let world = try await Self.launched()
        for expected in ["web 2", "web 2", "web 1"] {
            // A process that is killed runs nothing more.
            let app = world.app(start: .firstPage)
            try await app.launch()
            _ = try await world.server.show("/")
            let running = try world.device.device.state().machine.state.running
            #expect(running?.patches.map(\.label.description) == [expected])
        }
    }

    @Test func `that nobody asks for leaves its version on trial, however often the process ends`() async throws {
        let world = try await Self.launched()
        for _ in 1...10 { try await world.app(start: .firstPage).launch() }
        #expect(try Self.launches(world) == 0)
        try await world.publish("3")
        try await world.app(start: .firstPage).launch()
        let running = try world.device.device.state().machine.state.running
        #expect(running?.patches.map(\.label.description) == ["web 3"], "it makes room for a newer one")
    }

    @Test func `is of the confirmed version where the disk takes no count`() async throws {
        let world = try await Self.launched()
        let app = world.app(start: .firstPage)
        try await app.launch()
        world.disk.limitFreeSpace(to: 0)
        try await world.server.show("/")
        #expect(try await world.server.get("/").file?.entityTag == SHA256Digest(of: Array("<p>1</p>".utf8)).hex)
        world.disk.limitFreeSpace(to: nil)
        #expect(try Self.launches(world) == 0)
    }

    @Test func `breaks off the sync under way before it counts, and that begins again once the trial is decided`()
        async throws
    {
        let world = try await Self.launched()
        let gate = SyncGate()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let isUnderWay = NIOLockedValueBox(false)
        let syncing = Task {
            try? await gate.through { () async throws(SyncError) in
                isUnderWay.withLockedValue { $0 = true }
                begin.yield()
                let (never, _) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                isUnderWay.withLockedValue { $0 = false }
                throw .fetch(.cancelled)
            }
        }
        var beginnings = begun.makeAsyncIterator()
        await beginnings.next()
        let app = world.app(start: .firstPage, gate: gate)
        try await app.launch()
        #expect(!gate.isClosed, "nobody has asked for a page")
        _ = try await world.server.show("/")
        #expect(try Self.launches(world) == 1)
        #expect(gate.isClosed && !isUnderWay.withLockedValue(\.self))
        let running = Task { await app.run() }
        _ = try await world.device.device.confirm(SimulatedDevice.token(2))
        await beginnings.next()
        #expect(!gate.isClosed)
        syncing.cancel()
        running.cancel()
        await running.value
        _ = await syncing.value
    }

    @Test func `of a first version that does not confirm: it stays, says so, and a newer one takes its place`()
        async throws
    {
        let world = try Launched()
        try await world.publish("1")
        let gate = SyncGate()
        let app = world.app(timeout: .zero, start: .firstPage, gate: gate)
        try await app.launch()
        _ = try await world.server.show("/")
        try await world.expect(["serving web 1 on trial", "unproven web 1"], from: app)
        #expect(!gate.isClosed, "syncs go on")
        #expect(try await world.server.get("/").file != nil)
        #expect(try world.device.device.state().machine.blocks == TrialBlocks())
        try await world.publish("2")
        #expect(try await world.server.get("/").file != nil, "until the next launch")
        try await world.app(start: .firstPage).launch()
        #expect(await world.nextEvents(1) == ["serving web 2 on trial"])
    }

    @Test func `is no page where the host shows none: its launch counts from the start`() async throws {
        let world = try await Self.launched()
        try await world.app(start: .launch).launch()
        #expect(try Self.launches(world) == 1)
    }

    @Test func `of an app that says its state is damaged is the one that proved itself`() async throws {
        let world = try await Self.launched()
        try world.disk.overwrite(world.device.store.stateFile(SimulatedRepository.production), with: [])
        let app = world.app(start: .firstPage)
        try await app.launch()
        #expect(await world.nextEvents(2) == ["state previous", "serving web 1"])
    }
}

@Suite("The door for syncs", .timeLimit(.minutes(10)))
struct SyncGateTests {
    @Test func `waits for the end of what is under way no longer than it is told`() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Duration.self)
        let gate = SyncGate { ask.yield($0) }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (stubborn, release) = AsyncStream.makeStream(of: Never.self)
        let working = Task {
            try? await gate.through { () async throws(SyncError) in
                begin.yield()
                // Hears of no cancellation.
                await Task { for await _ in stubborn {} }.value
            }
        }
        for await _ in begun { break }
        await gate.close(waitingUpTo: .seconds(5))
        for await patience in asked {
            #expect(patience == .seconds(5))
            break
        }
        release.finish()
        #expect(await working.value != nil, "what came to its end is not done twice")
    }

    @Test func `ends what waits before it when that is cancelled`() async {
        let gate = SyncGate()
        gate.close()
        let waiting = Task { () -> SyncError? in
            do throws(SyncError) {
                let _: Void = try await gate.through { () async throws(SyncError) in Issue.record("it is closed") }
                return nil
            } catch { return error }
        }
        waiting.cancel()
        #expect(await waiting.value == .fetch(.cancelled))
    }
}
