import NIOConcurrencyHelpers
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ServiceLifecycle
import SystemPackage
import ServerTesting
import Testing

@Suite("When a server signs again")
struct RefreshScheduleTests {
    private let schedule = RefreshSchedule(every: .hours(6))
    private let now = TestingServer.start

    @Test(arguments: [
        (age: Duration.hours(5), isDue: false), (.hours(6), true), (.hours(100), true), (.zero, false),
        (.hours(-1), false),
    ])
    func `is once the timestamp is old enough, and not for one from the future`(age: Duration, isDue: Bool) {
        let signedAt = UTCTime(seconds: now.seconds - Int(age.components.seconds))
        #expect(schedule.isDue(signedAt: signedAt, at: now) == isDue)
    }

    @Test
    func `is now for a timestamp that does not say when it was signed`() {
        #expect(schedule.isDue(signedAt: nil, at: now))
    }

    @Test
    func `is looked at in time, soon after a lock, and at least every ten minutes`() throws {
        let versions = RefreshedVersions.sample(at: now)
        let almost = RefreshResult.fresh(signedAt: UTCTime(seconds: now.seconds - 6 * 3_600 + 90))
        for (results, pause) in [
            ([], Duration.minutes(10)), ([.signed(versions)], .minutes(10)), ([.withoutKey], .minutes(10)),
            ([.fresh(signedAt: now)], .minutes(10)), ([almost], .seconds(90)), ([.locked], .seconds(5)),
            ([.clockBehind(try #require(.in1970)), .locked], .seconds(2)),
            ([.failed("why")], .minutes(1)), ([almost, .locked, .failed("why")], .seconds(5)),
        ] as [([RefreshResult], Duration)] {
            #expect(schedule.pause(after: results, at: now) == pause)
        }
    }
}

extension ClockBehind {
    fileprivate static var in1970: ClockBehind? {
        ClockBehind(clock: UTCTime(seconds: 60), signedAt: TestingServer.start, build: UTCTime(seconds: 0))
    }
}

extension RefreshedVersions {
    fileprivate static func sample(at now: UTCTime) -> RefreshedVersions {
        RefreshedVersions(app: ReleaseFactory.app, timestamp: 1, snapshot: 1, dial: 1, expires: now)
    }
}

/// Somebody else who holds the folder.
private final class OtherProcess {
    private var lock: StoreLock?

    init(_ lock: consuming StoreLock) {
        self.lock = consume lock
    }

    func end() {
        lock = nil
    }
}

@Suite("A server that signs again by itself", .timeLimit(.minutes(20)))
struct RefreshTimerTests {
    /// A timer over a server on the real disk, with what it said and how it is moved on.
    private final class World: Sendable {
        let folder: TemporaryFolderBox
        let server: TestingServer
        let time: ManualClock
        let clock = TestingClock()
        let reports: AsyncStream<RefreshResult>
        let hasKey = NIOLockedValueBox(true)
        private let said: AsyncStream<RefreshResult>.Continuation

        init() throws {
            folder = try TemporaryFolderBox()
            server = try TestingServer(files: DiskFiles(), root: folder.path)
            time = ManualClock(TestingServer.start)
            (reports, said) = AsyncStream.makeStream(of: RefreshResult.self)
        }

        func expect(version: Int, location: SourceLocation = #_sourceLocation) throws {
            let found = try PublishedState(of: server.repository).timestamp.header.version
            #expect(found == version, sourceLocation: location)
        }

        /// How long the pause is to be that the timer begins next.
        func nextPause() async -> Duration? {
            await clock.sleeps.first { _ in true }
        }

        /// Runs the timer while `body` runs.
        func running(_ body: () async throws -> Void) async throws {
            let timer = RefreshTimer(
                server.folder,
                files: server.files,
                allowsTestingKeys: true,
                schedule: RefreshSchedule(every: .hours(6)),
                clock: clock,
                now: { [time] in time.now() },
                key: { [hasKey, server] path in
                    guard hasKey.withLockedValue(\.self) else { return nil }
                    return try OnlineKey(
                        try server.files.read(path, limit: Limits.keyFile),
                        passphrase: nil,
                        from: path
                    )
                },
                report: { [said] _, result in said.yield(result) }
            )
            let task = Task { try await timer.run() }
            do { try await body() } catch {
                task.cancel()
                _ = await task.result
                throw error
            }
            task.cancel()
            try await task.value
        }
    }

    @Test
    func `does so when the time has come, and at its start when it was off for long`() async throws {
        let world = try World()
        world.time.advance(by: .hours(30))
        try await world.running {
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
            world.time.advance(by: .minutes(10))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
            world.time.advance(by: .hours(6))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 3)
        }
        let state = try PublishedState(of: world.server.repository)
        #expect(state.timestamp.signedAt == TestingServer.start.adding(.hours(36)).adding(.minutes(10)))
    }

    @Test
    func `notices within seconds that its clock was set`() async throws {
        let (clock, time) = (TestingClock(), ManualClock(TestingServer.start))
        let noticed = Task { try await ClockStep.wait(clock: clock, now: { time.now() }) }
        for _ in 0..<2 {
            #expect(await clock.sleeps.first { _ in true } == .seconds(5))
            time.advance(by: .seconds(30))
            clock.wakeAll()
        }
        #expect(await clock.sleeps.first { _ in true } == .seconds(5))
        time.set(to: UTCTime(seconds: 60))
        clock.wakeAll()
        try await noticed.value
    }

    @Test
    func `signs nothing in 1970, says so once, and signs within seconds of the clock being right`() async throws {
        let world = try World()
        world.time.set(to: UTCTime(seconds: 60))
        let before = try world.server.everything()
        var reports = world.reports.makeAsyncIterator()
        try await world.running {
            for _ in 0..<3 {
                #expect(await world.nextPause() == .seconds(2))
                world.time.advance(by: .seconds(2))
                world.clock.wakeAll()
            }
            #expect(await world.nextPause() == .seconds(2))
            #expect(try world.server.everything() == before)
            // The time service steps it.
            world.time.set(to: TestingServer.start.adding(.hours(5)))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 1)
            world.time.set(to: UTCTime(seconds: 60))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .seconds(2))
            world.time.set(to: TestingServer.start.adding(.hours(7)))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
        }
        var said: [RefreshResult] = []
        for _ in 0..<4 { if let next = await reports.next() { said.append(next) } }
        let behind = RefreshResult.clockBehind(try #require(.in1970))
        #expect(said.prefix(3) == [behind, .fresh(signedAt: TestingServer.start), behind])
        guard case .signed? = said.last else {
            Issue.record("was said twice")
            return
        }
    }

    @Test
    func `waits for whoever holds the folder, and holds it no longer than it signs`() async throws {
        let world = try World()
        world.time.advance(by: .hours(6))
        let other = OtherProcess(try world.server.folder.locked(files: world.server.files))
        try await world.running {
            #expect(await world.nextPause() == .seconds(5))
            try world.expect(version: 1)
            other.end()
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
            let free = try world.server.folder.locked(files: world.server.files)
            free.release()
        }
    }

    @Test
    func `says once what is wrong, and goes on when it is right again`() async throws {
        let world = try World()
        world.time.advance(by: .hours(6))
        let path = world.server.repository.onlineKeyFile
        let key = try world.server.files.read(path, limit: Limits.keyFile)
        try world.server.files.remove(path)
        var reports = world.reports.makeAsyncIterator()
        try await world.running {
            #expect(await world.nextPause() == .minutes(1))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(1))
            try world.server.files.write(key, to: path)
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
        }
        #expect(await reports.next() == .failed("cannot read \(path): it does not exist"))
        guard case .signed(let versions)? = await reports.next() else {
            Issue.record("was said twice")
            return
        }
        #expect(versions.timestamp == 2)
    }

    @Test
    func `says once, at its start, that it has no key, and signs once it has one`() async throws {
        let world = try World()
        world.hasKey.withLockedValue { $0 = false }
        var reports = world.reports.makeAsyncIterator()
        try await world.running {
            for _ in 0..<3 {
                #expect(await world.nextPause() == .minutes(10))
                world.time.advance(by: .hours(3))
                world.clock.wakeAll()
            }
            world.hasKey.withLockedValue { $0 = true }
            #expect(await world.nextPause() == .minutes(10))
            world.clock.wakeAll()
            #expect(await world.nextPause() == .minutes(10))
            try world.expect(version: 2)
        }
        #expect(await reports.next() == .withoutKey)
        guard case .signed? = await reports.next() else {
            Issue.record("was said twice")
            return
        }
    }
}
