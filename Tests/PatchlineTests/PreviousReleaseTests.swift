import PatchChoice
import AssetServer
import DeviceTesting
import HTTPFiles
import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import SystemPackage
import PageTesting
import Testing

/// An app that keeps nothing it does not run, in a folder of its own, and what it told.
private struct Kept {
    let clock = ManualClock()
    let time = TestClock()
    let repository: SimulatedRepository
    let root: FilePath
    let device: SimulatedDevice
    let server: AssetServer
    let app: RunningApp
    let damaged = NIOLockedValueBox<[String]>([])

    /// Runs `body` with version 1 running, its page open, and version 2 waiting.
    static func with(keep: Int, _ body: (Kept) async throws -> Void) async throws {
        let kept = try Kept(keep: keep)
        do {
            try await kept.publish("1")
            try await kept.device.launchAndConfirm()
            try await kept.app.launch()
            #expect(
                try await kept.text("/", ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")) == "<p>1</p>"
            )
            try await kept.publish("2")
            try await body(kept)
        } catch {
            try? DiskFiles().removeTree(kept.root)
            throw error
        }
        try DiskFiles().removeTree(kept.root)
    }

    private init(keep: Int) throws {
        repository = SimulatedRepository(clock: clock)
        root = FilePath("/tmp/previous-release-tests-\(UInt64.random(in: 0...UInt64.max))")
        var facts = FactChanges()
        facts.keep = .set(keep)
        device = try SimulatedDevice(
            of: repository,
            clock: clock,
            on: DiskFiles(),
            at: root,
            facts: facts,
            isShared: true
        )
        server = AssetServer(
            AssetServer.Settings(access: Access(token: nil, under: .shared)),
            now: { [time] in time.now }
        )
        server.listening(on: AssetServer.port)
        var settings = RunningApp.Settings()
        settings.watchInterval = .milliseconds(1)
        settings.unwatchedInterval = .milliseconds(1)
        app = RunningApp(device: device.device, server: server, settings: settings) { [damaged] event in
            if case .damaged(let files) = event { damaged.withLockedValue { $0 += files } }
        }
    }

    func publish(_ version: String) async throws {
        repository.publish([.bundle("web", version, ["index.html": "<p>\(version)</p>", "main.js": "main \(version)"])])
        try await device.sync()
    }

    /// What waits runs, and is confirmed: nothing but it is kept.
    func switchAndConfirm() async throws {
        try await app.startPending()
        try await confirm()
    }

    func confirm() async throws {
        guard case .trying(_, _, let launch) = try device.device.state().machine.state else {
            Issue.record("no trial is running")
            return
        }
        _ = try await device.device.confirm(launch.token)
    }

    /// Another process does what it does after each confirmation.
    func cleanUp() async throws {
        try await SimulatedDevice(opening: device.store, of: repository, clock: clock).device.removeUnused()
    }

    /// What lies on disk of an answer; its status otherwise.
    func text(_ target: String, _ fields: (String, String)...) async throws -> String {
        let answer = await server.answer(try request(target, fields))
        if let bytes = answer.bytes { return String(decoding: bytes.bytes, as: UTF8.self).withoutStamp }
        guard let file = answer.file else { return answer.summary }
        return String(decoding: try DiskFiles().read(file.path, limit: 1_000), as: UTF8.self)
    }

    /// As the page that was open before the switch asks.
    func oldPage(_ target: String) async throws -> String {
        try await text(target, ("Referer", "http://127.0.0.1:12552/"), ("Sec-Fetch-Dest", "script"))
    }

    var bundles: Int { get throws { try DiskFiles().list(device.store.bundles).count } }

    /// Runs the app until `condition` holds.
    func run(until condition: () async throws -> Bool) async throws {
        let running = Task { await app.run() }
        while try await !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
        running.cancel()
        await running.value
    }
}

// One at a time: each waits for a real disk, on the threads that all tests share.
@Suite("The files of the release before", .serialized, .timeLimit(.minutes(10)))
struct PreviousReleaseTests {
    @Test func `stay while a page has it, though none is kept, and go at the first clean-up after its minute`()
        async throws
    {
        try await Kept.with(keep: 0) { world in
            try await world.switchAndConfirm()
            try await world.cleanUp()
            #expect(try world.bundles == 2)
            #expect(try await world.oldPage("/main.js") == "main 1")
            #expect(try await world.text("/main.js") == "main 2")
            world.time.advance(by: .seconds(59))
            #expect(world.server.servesPrevious())
            try await world.cleanUp()
            #expect(try await world.oldPage("/main.js") == "main 1")
            world.time.advance(by: .seconds(61))
            #expect(!world.server.servesPrevious())
            try await world.cleanUp()
            #expect(try world.bundles == 1)
            #expect(try await world.oldPage("/main.js") == "main 2")
            #expect(world.damaged.withLockedValue(\.self) == [])
        }
    }

    @Test func `are removed by the app itself when their minute is over`() async throws {
        try await Kept.with(keep: 0) { world in
            try await world.switchAndConfirm()
            #expect(try world.bundles == 2)
            #expect(world.server.servesPrevious())
            try await world.run { await world.app.hadPrevious }
            world.time.advance(by: .seconds(61))
            try await world.run { try world.bundles == 1 }
            #expect(try await world.text("/main.js") == "main 2")
        }
    }

    @Test func `stay for the page of a version that was rolled back`() async throws {
        try await Kept.with(keep: 1) { world in
            try await world.app.startPending()
            let document = [("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate")]
            #expect(try await world.text("/", document[0], document[1]) == "<p>2</p>")
            _ = try await world.device.device.rollBack()
            try await world.run { try await world.text("/main.js") == "main 1" }
            try await world.cleanUp()
            #expect(try await world.oldPage("/main.js") == "main 2")
            world.time.advance(by: .seconds(61))
            #expect(!world.server.servesPrevious())
            try await world.cleanUp()
            #expect(try world.bundles == 1)
            #expect(try await world.oldPage("/main.js") == "main 1")
        }
    }

    @Test func `go once the server is gone, however it went`() async throws {
        try await Kept.with(keep: 0) { world in
            // What a server that was killed leaves.
            let state = try #require(try world.device.device.state().machine.state.running)
            let serving = world.root.appending("serving")
            let left = try #require(try DiskFiles().list(serving).first)
            let bytes = try DiskFiles().read(serving.appending(left), limit: 100_000)
            try await world.switchAndConfirm()
            world.server.serve(.nothing)
            try DiskFiles().write(bytes, to: serving.appending("1-1"), permissions: .privateFile)
            try await world.cleanUp()
            #expect(try world.bundles == 1)
            #expect(state.patches.map(\.version.text) == ["1"])
            #expect(try DiskFiles().list(serving) == [])
        }
    }

    @Test func `are no damage when they are missing nevertheless`() async throws {
        try await Kept.with(keep: 0) { world in
            let old = try #require(try world.device.device.state().machine.state.running?.patches.first)
            try await world.switchAndConfirm()
            try DiskFiles().removeTree(world.device.store.bundle(old.fingerprint.sha256))
            #expect(try await world.oldPage("/main.js") == "404")
            #expect(world.damaged.withLockedValue(\.self) == [])
            let new = try #require(try world.device.device.state().machine.state.running?.patches.first)
            try DiskFiles().removeTree(world.device.store.bundle(new.fingerprint.sha256))
            #expect(try await world.text("/main.js") == "503")
            #expect(world.damaged.withLockedValue(\.self) == ["web 2 main.js"])
        }
    }
}
