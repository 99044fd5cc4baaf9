import AssetServer
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage
import Testing

@testable import Patchline

@Suite("The progress of a sync")
struct SyncProgressTests {
    @Test(
        arguments: [
            ([.downloading(files: 1, bytes: 200), .received(bytes: 50), .received(bytes: 50)], [25, 50]),
            ([.downloading(files: 1, bytes: 10), .received(bytes: 10)], [99]),
            ([.downloading(files: 1, bytes: 10), .received(bytes: 25)], [99]),
            (
                [
                    .downloading(files: 1, bytes: 100), .received(bytes: 50), .downloading(files: 2, bytes: 150),
                    .received(bytes: 50), .received(bytes: 100),
                ], [50, 99]
            ),
            ([.received(bytes: 5)], []), ([.downloading(files: 0, bytes: 0)], []),
            ([.downloading(files: 1, bytes: 1_000), .received(bytes: 5), .received(bytes: 5)], [1]),
            ([.downloading(files: 1, bytes: 4_000_000_000_000), .received(bytes: 1_000_000_000_000)], [25]),
        ] as [([SyncEvent], [Int])]
    )
    func `only grows, and is 100 at the end alone`(events: [SyncEvent], reported: [Int]) {
        var progress = SyncProgress()
        #expect(events.compactMap { progress.take($0) } == reported)
    }
}

@Suite("The syncs of a running app", .timeLimit(.minutes(10)))
struct UpdatesTests {
    /// Updates whose clock is turned by hand: each sleep is handed out, and ends when it is let go.
    private struct World {
        let updates: Updates
        let events = PageEvents(start: "s")
        let synced: AsyncStream<Void>
        let isInstalled = NIOLockedValueBox(false)
        let sleeps: AsyncStream<(Duration, CheckedContinuation<Void, Never>)>

        init(interval: Duration? = nil, isAllowed: Bool = true, fails: Bool = false) {
            var settings = Updates.Settings()
            settings.interval = interval
            settings.isAllowed = isAllowed
            let (synced, done) = AsyncStream.makeStream(of: Void.self)
            let (sleeps, slept) = AsyncStream.makeStream(of: (Duration, CheckedContinuation<Void, Never>).self)
            self.synced = synced
            self.sleeps = sleeps
            updates = Updates(
                settings,
                events: events,
                isInstalled: { [isInstalled] in isInstalled.withLockedValue(\.self) },
                sleep: { duration in
                    await withCheckedContinuation { _ = slept.yield((duration, $0)) }
                    try Task.checkCancellation()
                },
                report: { _ in done.yield() },
                sync: { _, _ throws(SyncError) in throw .nothingInstalled }
            )
        }
    }

    @Test func `begin by themselves until there is something to serve, and then no more`() async throws {
        let world = World()
        let running = Task { await world.updates.run() }
        var (sleeps, synced) = (world.sleeps.makeAsyncIterator(), world.synced.makeAsyncIterator())
        for _ in 1...2 {
            let (duration, wake) = try #require(await sleeps.next())
            #expect(duration == .seconds(30))
            await synced.next()
            wake.resume()
        }
        let (_, wake) = try #require(await sleeps.next())
        await synced.next()
        world.isInstalled.withLockedValue { $0 = true }
        wake.resume()
        #expect(await world.updates.check() == .started)
        await synced.next()
        #expect(world.events.recent.last == .failed("nothing is installed yet"))
        let (_, last) = try #require(await sleeps.next())
        running.cancel()
        last.resume()
        await running.value
    }

    @Test func `begin again when nothing is left of what was served`() async throws {
        let world = World()
        world.isInstalled.withLockedValue { $0 = true }
        let running = Task { await world.updates.run() }
        var (sleeps, synced) = (world.sleeps.makeAsyncIterator(), world.synced.makeAsyncIterator())
        let (_, wake) = try #require(await sleeps.next())
        #expect(world.events.recent.isEmpty)
        world.isInstalled.withLockedValue { $0 = false }
        wake.resume()
        await synced.next()
        let (_, last) = try #require(await sleeps.next())
        running.cancel()
        last.resume()
        await running.value
    }

    @Test func `begin at the start and every so often where that is set`() async throws {
        let world = World(interval: .seconds(600))
        world.isInstalled.withLockedValue { $0 = true }
        let running = Task { await world.updates.run() }
        var (sleeps, synced) = (world.sleeps.makeAsyncIterator(), world.synced.makeAsyncIterator())
        await synced.next()
        for _ in 1...2 {
            let (duration, wake) = try #require(await sleeps.next())
            #expect(duration == .seconds(600))
            wake.resume()
            await synced.next()
        }
        let (_, wake) = try #require(await sleeps.next())
        running.cancel()
        wake.resume()
        await running.value
    }

    @Test func `go on after the app was stopped and started again`() async throws {
        let world = World()
        world.isInstalled.withLockedValue { $0 = true }
        var (sleeps, synced) = (world.sleeps.makeAsyncIterator(), world.synced.makeAsyncIterator())
        for _ in 1...2 {
            let running = Task { await world.updates.run() }
            let (_, wake) = try #require(await sleeps.next())
            #expect(await world.updates.check() == .started)
            await synced.next()
            running.cancel()
            wake.resume()
            await running.value
        }
    }

    @Test func `that somebody waits for are made one after the other, each by its wish`() async throws {
        let wishes = NIOLockedValueBox<[Updates.SyncRequest]>([])
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var settings = Updates.Settings()
        settings.firstInterval = nil
        let updates = Updates(settings, events: PageEvents(start: "s"), isInstalled: { true }, report: { _ in }) {
            wish,
            _ throws(SyncError) in
            let count = wishes.withLockedValue { wishes in
                wishes.append(wish)
                return wishes.count
            }
            begin.yield()
            for await _ in gate { break }
            if count == 2 { throw .lock(.held("/s", by: 5)) }
            throw .nothingInstalled
        }
        func error(_ wish: Updates.SyncRequest) async -> SyncError? {
            do throws(SyncError) { _ = try await updates.sync(wish) } catch { return error }
            return nil
        }
        let running = Task { await updates.run() }
        #expect(await updates.check() == .started)
        var beginnings = begun.makeAsyncIterator()
        await beginnings.next()
        var metered = Updates.SyncRequest()
        (metered.isMetered, metered.retriesFailed) = (true, true)
        let first = Task { [metered] in await error(metered) }
        open.yield()
        await beginnings.next()
        open.yield()
        #expect(await first.value == .lock(.held("/s", by: 5)), "another process syncs, and who waits is told")
        let last = Task { await error(Updates.SyncRequest()) }
        await beginnings.next()
        running.cancel()
        #expect(await last.value != nil)
        await running.value
        #expect(await error(Updates.SyncRequest()) == .fetch(.cancelled), "it was stopped")
        #expect(wishes.withLockedValue(\.self) == [Updates.SyncRequest(), metered, Updates.SyncRequest()])
    }

    @Test func `begin again as soon as nothing is left, with no look at a clock`() async throws {
        let isInstalled = NIOLockedValueBox(true)
        let (pauses, paused) = AsyncStream.makeStream(of: Duration.self)
        let (synced, done) = AsyncStream.makeStream(of: Void.self)
        let updates = Updates(
            Updates.Settings(),
            events: PageEvents(start: "s"),
            isInstalled: { isInstalled.withLockedValue(\.self) },
            sleep: { pause in
                paused.yield(pause)
                let (never, _) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                throw CancellationError()
            },
            report: { _ in done.yield() },
            sync: { _, _ throws(SyncError) in throw .nothingInstalled }
        )
        let running = Task { await updates.run() }
        var (waits, syncs) = (pauses.makeAsyncIterator(), synced.makeAsyncIterator())
        #expect(await waits.next() == .seconds(86_400))
        isInstalled.withLockedValue { $0 = false }
        updates.searchForFirstVersion()
        await syncs.next()
        #expect(await waits.next() == .seconds(30))
        running.cancel()
        await running.value
    }

    @Test func `never begin where they are switched off`() async throws {
        let world = World(interval: .seconds(1), isAllowed: false)
        let running = Task { await world.updates.run() }
        #expect(await world.updates.check() == .switchedOff)
        running.cancel()
        await running.value
        #expect(world.events.recent.isEmpty)
    }
}
