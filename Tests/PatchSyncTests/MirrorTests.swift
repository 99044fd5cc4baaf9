import PatchChoice
import DeviceTesting
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

extension World {
    /// A newer list is asked for each time that a minute is told.
    fileprivate mutating func tellingMinutes() -> AsyncStream<Void>.Continuation {
        let (minutes, minute) = AsyncStream.makeStream(of: Void.self)
        device.deadlines.newerList = .seconds(60)
        device.timing.sleep = { _ in
            for await _ in minutes { return }
            throw CancellationError()
        }
        return minute
    }

    /// A second server with what the first one publishes now; from then on each is on its own.
    mutating func mirror(_ name: String = "http://mirror.test") -> SimulatedRepository {
        let copy = repository.copy(clock: clock)
        device.mirrors.append(Source(name: name, fetcher: copy))
        return copy
    }
}

@Suite("A mirror")
struct MirrorTests {
    private let server = SimulatedDevice.server.text
    private let mirrored = "http://mirror.test"
    private let unplugged = { (path: String) in SyncError.fetch(.connection(path, reason: "unplugged")) }

    @Test func `is not asked while the server is well`() async throws {
        var world = try World()
        let mirror = world.mirror()
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(mirror.takeRequests() == [])
    }

    @Test func `stands in for a server that cannot be reached`() async throws {
        var world = try World()
        let mirror = world.mirror()
        for path in world.repository.tree.files.keys { world.repository.fail(path, with: .connection) }
        world.repository.fail("metadata/2.root.json", with: .connection)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staging == .staged)
        #expect(report.mirrors == [MirrorFault(server: server, wrong: .failed(unplugged("metadata/2.root.json")))])
        let requests = mirror.takeRequests()
        #expect(Set(requests).count == requests.count)
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test func `brings what is newer where the server is behind, and the server is named`() async throws {
        var world = try await World.running()
        let mirror = world.mirror()
        mirror.publish(SampleApp.second)
        // By the mirror alone, so that the device knows of something newer.
        world.repository.fail("metadata/2.root.json", with: .connection)
        #expect(try await world.device.sync().roleVersion == 2)
        mirror.publish(SampleApp.second + [.script("tip", "1", "tip;")])
        world.repository.repair("metadata/2.root.json")
        let report = try await world.device.sync()
        #expect(report.roleVersion == 3 && report.staleMirror == nil && report.isComplete)
        guard case .stale(let stale)? = report.mirrors.first?.wrong else {
            Issue.record("\(report.mirrors)")
            return
        }
        #expect(report.mirrors.count == 1 && report.mirrors[0].server == server)
        #expect(stale.offered < stale.known && !stale.isOverdue)
    }

    @Test func `that is behind too leaves everything as it is known`() async throws {
        var world = try await World.running()
        let mirror = world.mirror()
        mirror.publish(SampleApp.second)
        world.repository.fail("metadata/2.root.json", with: .connection)
        _ = try await world.device.sync()
        world.repository.repair("metadata/2.root.json")
        world.device.mirrors = [Source(name: mirrored, fetcher: world.repository)]
        let report = try await world.device.sync()
        #expect(report.roleVersion == 2 && report.staleMirror != nil)
        #expect(report.mirrors.map(\.server) == [server, mirrored])
    }

    @Test(arguments: [
        SimulatedRepository.Fault.notFound, .connection, .stalls, .status(500), .breaksOff(after: 3),
        .bitFlipped(at: 0.5), .shortened(to: 3), .endless,
    ])
    func `is asked for the object that the server does not give`(fault: SimulatedRepository.Fault) async throws {
        var world = try World()
        let mirror = world.mirror()
        let path = object("export const lib = 1;")
        world.repository.fail(path, with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete)
        // Of what broke off the rest alone.
        let rest = if case .breaksOff = fault { " from 3" } else { "" }
        #expect(mirror.takeRequests().contains(path + rest))
        let lies = report.mirrors.compactMap { if case .lied = $0.wrong { $0.server } else { nil } }
        switch fault {
        case .bitFlipped, .shortened, .endless: #expect(lies == [server])
        default: #expect(lies == [])
        }
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test(arguments: [".manifest.json", ".manifest.sigs"])
    func `is asked for the document that the server has wrong`(ending: String) async throws {
        var world = try World()
        let mirror = world.mirror()
        let path = try #require(world.repository.tree.files.keys.first { $0.hasSuffix(ending) })
        world.repository.fail(path, with: .bitFlipped(at: 0.5))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors.map(\.server) == [server])
        #expect(mirror.takeRequests() == [path])
    }

    @Test func `that lies costs time and nothing else`() async throws {
        var world = try await World.running()
        let mirror = world.mirror()
        mirror.edit { tree in
            tree.impostors = ["timestamp": [SimulatedKey.beta]]
            tree.publishSnapshot()
        }
        let before = try world.files()
        world.repository.fail("metadata/2.root.json", with: .connection)
        // What the liar did wrong is told first: waiting would not help.
        await #expect(throws: SyncError.trust(.threshold(role: "timestamp", valid: 0, needed: 1))) {
            try await world.device.sync()
        }
        #expect(try world.files() == before)
        world.repository.repair("metadata/2.root.json")
        #expect(try await world.device.sync().staging == .unchanged)
    }

    @Test func `comes first for the rest of a sync once the way to the server is closed`() async throws {
        var world = try World()
        let mirror = world.mirror()
        for path in world.repository.tree.files.keys where path.hasPrefix("objects/") {
            world.repository.fail(path, with: .stalls)
        }
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests().count <= Transfers.parallel)
        #expect(mirror.takeRequests().count(where: { $0.hasPrefix("objects/") }) == 6)
    }
}

@Suite("A newer list", .timeLimit(.minutes(10)))
struct NewerListTests {
    private let slow = String(repeating: "slow", count: 10_000)

    @Test func `stops the download of an older one, and nothing is asked for twice`() async throws {
        var world = try World([.bundle("web", "1", ["index.html": "one", "app.js": "shared"])])
        let (repository, slow) = (world.repository, slow)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        repository.publish([.bundle("web", "2", ["index.html": "two", "app.js": "shared", "movie.bin": slow])])
        let minute = world.tellingMinutes()
        // The movie never comes; while it is asked for, version 3 is published.
        repository.onRequest { path in
            guard path == object(slow) else { return }
            repository.publish([.bundle("web", "3", ["index.html": "two", "app.js": "three"])])
            minute.yield()
            try? await Task.sleep(for: .seconds(3_600))
        }
        _ = repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.roleVersion == 3 && report.isComplete && report.staging == .staged)
        let objects = world.objectRequests()
        #expect(Set(objects) == [object("two"), object(slow), object("three")])
        #expect(Set(objects).count == objects.count)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 3")
    }

    @Test func `stops a download as often as is set, and is not asked for after that`() async throws {
        var world = try World([.bundle("web", "1", ["index.html": "one", "movie.bin": slow])])
        let (repository, slow, other) = (world.repository, slow, slow + "er")
        world.device.deadlines.newerLists = 1
        let minute = world.tellingMinutes()
        let sleep = world.device.timing.sleep
        let watches = NIOLockedValueBox(0)
        world.device.timing.sleep = { wait in
            watches.withLockedValue { $0 += 1 }
            try await sleep(wait)
        }
        repository.onRequest { path in
            if path == object(slow) {
                repository.publish([.bundle("web", "2", ["index.html": "two", "movie.bin": other])])
                minute.yield()
                try? await Task.sleep(for: .seconds(3_600))
            } else if path == object(other) {
                // Long enough for a second watch to begin, were there one.
                for _ in 0..<1_000 { await Task.yield() }
            }
        }
        let report = try await world.device.sync()
        #expect(report.roleVersion == 2 && report.isComplete)
        #expect(watches.withLockedValue(\.self) == 1)
    }

    @Test func `is asked of the mirror when the server is gone`() async throws {
        var world = try World([.bundle("web", "1", ["index.html": "one", "movie.bin": slow])])
        let mirror = world.mirror()
        let (repository, slow) = (world.repository, slow)
        let minute = world.tellingMinutes()
        repository.onRequest { path in
            guard path == object(slow) else { return }
            for path in repository.tree.files.keys { repository.fail(path, with: .connection) }
            repository.fail("metadata/2.root.json", with: .connection)
            mirror.publish([.bundle("web", "2", ["index.html": "two"])])
            minute.yield()
            try? await Task.sleep(for: .seconds(3_600))
        }
        let report = try await world.device.sync()
        #expect(report.roleVersion == 2 && report.isComplete && report.staging == .staged)
    }

    @Test func `is not acted on when the channel's role is the same`() async throws {
        var world = try World([.script("large", "1", slow)])
        let (repository, slow) = (world.repository, slow)
        let minute = world.tellingMinutes()
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        repository.onRequest { path in
            if path == object(slow) {
                // Another channel's release: a new snapshot, and the same role.
                repository.publish([], to: SimulatedRepository.beta)
                minute.yield()
                for await _ in looks { return }
            } else if path.hasSuffix(".snapshot.json") {
                look.yield()
            }
        }
        let report = try await world.device.sync()
        #expect(report.roleVersion == 1 && report.isComplete)
        #expect(world.objectRequests() == [object(slow)])
    }
}
