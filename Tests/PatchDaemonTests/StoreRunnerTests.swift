import DeviceTesting
import NIOConcurrencyHelpers
import PageTesting
import PatchChoice
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PatchTrust
import Patchline
import SystemPackage
import Testing

/// A store in a folder of its own whose server nobody runs, kept by a runner whose time and network are moved by hand.
private struct Kept {
    let clock = ManualClock()
    let root: FilePath
    let repository: SimulatedRepository
    let device: SimulatedDevice
    let runner: StoreRunner
    let pauses: AsyncStream<(Duration, AsyncStream<Never>.Continuation)>
    let network: AsyncStream<Void>.Continuation
    let told = NIOLockedValueBox<[String]>([])

    static func with(_ body: (Kept) async throws -> Void) async throws {
        let kept = try await Kept()
        let running = Task { await kept.runner.run() }
        let result = await Result { try await body(kept) }
        await kept.runner.stop()
        running.cancel()
        await running.value
        try? DiskFiles().removeTree(kept.root)
        try result.get()
    }

    private init() async throws {
        repository = SimulatedRepository(clock: clock)
        let root = FilePath("/tmp/store-runner-tests-\(UInt64.random(in: 0...UInt64.max))")
        self.root = root
        device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        repository.publish([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        try await device.sync()
        try await device.launchAndConfirm()
        try await device.store.changingConfiguration { configuration throws(SyncError) in
            guard let nobody = ServerURL("http://127.0.0.1:9") else { return }
            configuration.server = nobody
        }
        let (pauses, pause) = AsyncStream.makeStream(of: (Duration, AsyncStream<Never>.Continuation).self)
        let (changes, network) = AsyncStream.makeStream(of: Void.self)
        (self.pauses, self.network) = (pauses, network)
        var around = StoreRunner.Surroundings(
            open: { path throws(SyncError) in DeviceStore(root: path, files: DiskFiles(), admitting: .all) },
            now: clock.now
        ) { [told] store, event in
            told.withLockedValue { $0.append("\(store.name) \(event)") }
        }
        around.sleep = { time in
            let (over, goOn) = AsyncStream.makeStream(of: Never.self)
            pause.yield((time, goOn))
            for await _ in over {}
            try Task.checkCancellation()
        }
        around.random = { 0.5 }
        around.networkChanges = NetworkChanges { changes }
        around.deadlines.retries = 0
        var settings = StoreSettings(name: "shop", store: root)
        settings.port = 0
        runner = StoreRunner(settings, in: around)
    }

    /// Published, and here, but not started.
    func stage(_ version: String, _ rules: PatchRules = .everyone) async throws {
        repository.publish([.bundle("web", version, ["index.html": "<p>\(version)</p>"], rules: rules)])
        try await device.sync()
    }

    var running: String? {
        get throws { try runner.device().state().machine.state.running?.patches.first?.version.text }
    }
}

@Suite("A store that the daemon keeps", .serialized, .timeLimit(.minutes(1)))
struct StoreRunnerTests {
    @Test func `is asked for at its interval, backs off, and is asked for again when the network comes back`()
        async throws
    {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            let (interval, due) = try #require(await pauses.next())
            #expect(interval == .seconds(900))
            // A clock that is set after the start moves nothing.
            kept.clock.advance(by: .days(-300))
            let planned = try #require(await kept.runner.nextLook())
            #expect(planned.reason == .interval && (800...900).contains(planned.seconds))
            due.finish()
            let (first, _) = try #require(await pauses.next())
            #expect(first == .seconds(30))
            #expect(await kept.runner.nextLook()?.reason == .backOff)
            kept.network.yield()
            let (soon, now) = try #require(await pauses.next())
            #expect(soon > .seconds(5) && soon <= .seconds(10), "right after a try it waits a moment")
            #expect(await kept.runner.nextLook()?.reason == .network)
            now.finish()
            let (second, _) = try #require(await pauses.next())
            #expect(second == .seconds(60))
            // Whoever asks gets the answer, and moves the next look.
            await #expect { try await kept.runner.sync(SyncWish()) } throws: { error in
                guard case SyncError.fetch(.connection) = error else { return false }
                return true
            }
            let (third, _) = try #require(await pauses.next())
            #expect(third == .seconds(120))
            #expect(try kept.running == "1", "what is installed goes on")
        }
    }

    /// E7, J4.
    @Test(arguments: [false, true])
    func `starts what waits in the background, where a page was open, but not what waits for a launch`(
        waitsForLaunch: Bool
    ) async throws {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            _ = await pauses.next()
            let url = try #require(await kept.runner.pages()?.url)
            #expect(try await Browser.opening(url).ask("/", [("Sec-Fetch-Dest", "document")]).body == "<p>1</p>")
            try await kept.stage("2", PatchRules(runAtNextLaunch: waitsForLaunch))
            _ = try? await kept.runner.sync(SyncWish())
            _ = await pauses.next()
            #expect(try kept.running == "1", "somebody may look at it")
            try await kept.runner.background()
            #expect(try kept.running == (waitsForLaunch ? "1" : "2"))
        }
    }

    @Test func `lets nobody else serve it, and is given up with its runner`() async throws {
        try await Kept.with { kept in
            var pauses = kept.pauses.makeAsyncIterator()
            _ = await pauses.next()
            let store = DeviceStore(root: kept.root, files: DiskFiles(), admitting: .all)
            #expect {
                _ = try store.servingRight()
            } throws: { error in
                guard case SyncError.lock(.held(_, by: let process)) = error else { return false }
                return process != nil
            }
            await kept.runner.stop()
            await #expect(throws: SyncError.notKept(nil)) { try await kept.runner.switchToPending() }
        }
    }
}
