import AssetServer
import DeviceTesting
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import PageTesting
import SystemPackage
import Testing

@testable import Patchline

/// What an app waits for: every look asks the watch first, and every pause is taken down and ends only by hand.
private final class Waits: FolderWatch {
    private struct State {
        var looks = 0
        var folders: [FilePath] = []
        var pauses: [Duration] = []
        var changed: (@Sendable () -> Void)?
        var failure: FileError?
    }

    private let state = NIOLockedValueBox(State())
    private let looked: AsyncStream<Void>
    private let look: AsyncStream<Void>.Continuation

    init() { (looked, look) = AsyncStream.makeStream(of: Void.self) }

    var looks: Int { state.withLockedValue(\.looks) }
    var folders: [FilePath] { state.withLockedValue(\.folders) }
    var pauses: [Duration] { state.withLockedValue(\.pauses) }

    func fail(with error: FileError?) { state.withLockedValue { $0.failure = error } }

    func watch(_ folders: [FilePath]) throws(FileError) {
        let failure = state.withLockedValue { state in
            state.looks += 1
            state.folders = folders
            return state.failure
        }
        look.yield()
        if let failure { throw failure }
    }

    func end() {}

    /// What the system would say.
    func tellOfChange() { state.withLockedValue(\.changed)?() }

    /// Returns after this many looks from now on.
    func untilLooked(_ count: Int = 1) async {
        var left = count
        for await _ in looked {
            left -= 1
            if left == 0 { return }
        }
    }

    func waiting(for store: DeviceStore) -> RunningApp.Waiting {
        var waiting = RunningApp.Waiting(for: store)
        waiting.watch = { [self] changed throws(FileError) in
            state.withLockedValue { $0.changed = changed }
            return self
        }
        waiting.sleep = { [self] pause in
            state.withLockedValue { $0.pauses.append(pause) }
            let (never, _) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            throw CancellationError()
        }
        return waiting
    }
}

@Suite("A running app that nothing happens to", .timeLimit(.minutes(10)))
struct IdleTests {
    private let world: Launched
    private let waits = Waits()

    init() throws { world = try Launched() }

    private func running(
        _ start: TrialStart = .firstPage,
        changing change: (inout RunningApp.Settings) -> Void = { _ in },
        _ body: (RunningApp) async throws -> Void
    ) async throws {
        let app = world.app(
            timeout: .seconds(3_600),
            start: start,
            waiting: waits.waiting(for: world.device.device.store),
            changing: change
        )
        try await app.launch()
        let running = Task { await app.run() }
        await waits.untilLooked()
        try await body(app)
        running.cancel()
        await running.value
    }

    private func another() async {
        waits.tellOfChange()
        await waits.untilLooked()
    }

    @Test func `looks once, and sets no timer`() async throws {
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await running { _ in
            // When the second look begins, the first has ended.
            await another()
            #expect(waits.looks == 2)
            let store = world.device.device.store
            let channels = store.root.appending("channels")
            #expect(waits.folders == [store.root, channels, channels.appending("production")])
        }
        #expect(waits.pauses == [])
        #expect(waits.looks == 2, "its end is no look")
    }

    @Test func `has no timer for a trial before its first page, nor in the background`() async throws {
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await world.publish("2")
        try await running { app in
            await another()
            #expect(waits.pauses == [])
            try await world.server.show("/")
            await waits.untilLooked()
            await another()
            #expect(waits.pauses.last == .milliseconds(500))
            try await app.background()
            await waits.untilLooked()
            let count = waits.pauses.count
            await another()
            await another()
            #expect(waits.pauses.count == count, "in the background it stands still")
        }
    }

    @Test func `starts what people put off when that is over, and has one timer for that`() async throws {
        let web = SimulatedPatch.bundle("web", "1", ["index.html": "<p>1</p>"])
        world.repository.publish([web])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        try await running(changing: { $0.runsScripts = true }) { app in
            _ = try await world.device.device.postpone(for: .seconds(7_200))
            world.repository.publish([web, .script("fix", "1", "fixed = 1;")])
            try await world.device.sync()
            await another()
            await another()
            #expect(waits.pauses.last == .seconds(7_200))
            let held = await app.serving?.labels
            #expect(held == "web 1")
            world.clock.advance(by: .seconds(7_200))
            await another()
            await another()
            let labels = await app.serving?.labels
            #expect(labels == "fix 1, web 1")
        }
    }

    @Test func `has one timer for the pages of the release before, which is over in a minute`() async throws {
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        try await running { app in
            try await world.publish("2")
            try await app.startPending()
            await waits.untilLooked()
            await another()
            let pause = try #require(waits.pauses.last)
            #expect(pause > .zero && pause <= .seconds(60))
        }
    }

    @Test func `goes by the clock where the system cannot tell, and says so once`() async throws {
        try await world.publish("1")
        try await world.device.launchAndConfirm()
        let full = FileError.io(.watch, "/store", .noSpace)
        waits.fail(with: full)
        try await running(changing: { $0.unwatchedInterval = RunningApp.Settings().unwatchedInterval }) { _ in
            await another()
            await another()
            #expect(waits.pauses.allSatisfy { $0 == .seconds(1) } && !waits.pauses.isEmpty)
            #expect(await world.nextEvents(2) == ["serving web 1", "trouble \(SyncError.file(full))"])
            waits.fail(with: nil)
            await another()
            let count = waits.pauses.count
            await another()
            #expect(waits.pauses.count == count)
        }
    }
}

@Suite("The heartbeat of streams of events", .timeLimit(.minutes(10)))
struct HeartbeatTests {
    @Test func `beats only while a page listens`() async throws {
        let (pauses, paused) = AsyncStream.makeStream(of: (Duration, CheckedContinuation<Void, Never>).self)
        let events = PageEvents(start: "s")
        // How many pages listened when each timer was set.
        let listening = NIOLockedValueBox<[Int]>([])
        let heartbeat = Heartbeat(events: events) { pause in
            listening.withLockedValue { $0.append(events.streams) }
            await withCheckedContinuation { _ = paused.yield((pause, $0)) }
            try Task.checkCancellation()
        }
        let beating = Task { await heartbeat.run() }
        let server = AssetServer(AssetServer.Settings(access: Access(token: nil, under: .shared)), events: events)
        server.listening(on: AssetServer.port)
        for _ in 1...1_000 { await Task.yield() }
        var page: FileAnswer? = try await server.get("/__patchline/events")
        var timers = pauses.makeAsyncIterator()
        let (pause, goOn) = try #require(await timers.next())
        #expect(pause == .seconds(15) && events.streams == 1)
        withExtendedLifetime(page) {}
        page = nil
        #expect(events.streams == 0)
        goOn.resume()
        for _ in 1...1_000 { await Task.yield() }
        page = try await server.get("/__patchline/events")
        let (_, last) = try #require(await timers.next())
        #expect(
            listening.withLockedValue(\.self) == [1, 1],
            "one for each page that came, none before and none between"
        )
        beating.cancel()
        last.resume()
        await beating.value
        withExtendedLifetime(page) {}
    }
}
