import DeviceTesting
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// A server that notes with which bounds it is asked.
private final class NotingServer: Fetcher {
    let repository: SimulatedRepository
    private let noted = NIOLockedValueBox<[FetchRequest]>([])

    init(_ repository: SimulatedRepository) {
        self.repository = repository
    }

    var requests: [FetchRequest] { noted.withLockedValue(\.self) }
    /// By path, what a request said is known already.
    let known = NIOLockedValueBox<[String: [UInt8]]>([:])

    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        self.known.withLockedValue { $0[path] = known }
        return try await bytes(path, limit: limit, deadline: deadline)
    }

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        noted.withLockedValue { $0.append(request) }
        try await repository.fetch(request, take: take)
    }
}

/// Holds whoever comes until so many are here.
private actor Crowd {
    private let size: Int
    private var here = 0
    private var isOpen = false
    private(set) var most = 0

    init(of size: Int) {
        self.size = size
    }

    func join() async {
        here += 1
        most = max(most, here)
        // Ends also where they never come, so that the test says so.
        let end = ContinuousClock.now + .seconds(10)
        while !isOpen, here < size, ContinuousClock.now < end { await Task.yield() }
        isOpen = true
        for _ in 0..<500 { await Task.yield() }
        here -= 1
    }
}

/// Each test fails when the bound that it is about is ignored.
@Suite("What a server is asked for")
struct BoundsTests {
    private func sync(_ world: World, _ server: NotingServer) async throws -> SyncReport {
        var engine = world.device.engine
        engine = SyncEngine(
            store: engine.store,
            configuration: engine.configuration,
            fetcher: server,
            now: engine.now
        )
        engine.deadlines = world.device.deadlines
        engine.timing = world.device.timing
        engine.express = world.device.express
        return try await engine.sync()
    }

    @Test func `has a limit in bytes and a deadline, each of its own kind`() async throws {
        let large = String(repeating: "0123456789", count: 1_000_000)
        var world = try World([.bundle("web", "1", ["index.html": "one", "large.bin": large])])
        world.repository.setDial([])
        let server = NotingServer(world.repository)
        world.device.deadlines.document = .seconds(11)
        world.device.deadlines.object = .seconds(22)
        #expect(try await sync(world, server).isComplete)
        let files = world.repository.tree.files
        var limits = ["metadata/2.root.json": Limits.root, URLLayout.timestamp: Limits.timestamp]
        for request in server.requests {
            let isObject = request.expected != nil
            // Ten million bytes at ten thousand a second.
            let deadline: Duration = request.limit == large.utf8.count ? .seconds(1_000) : .seconds(isObject ? 22 : 11)
            #expect(request.deadline == deadline, "\(request.path)")
            let limit = limits.removeValue(forKey: request.path) ?? files[request.path]?.count
            #expect(request.limit == limit, "\(request.path)")
        }
        #expect(limits.isEmpty)
        #expect(Set(server.requests.map(\.path)).count == server.requests.count)
        #expect(server.requests.count(where: { $0.expected != nil }) == 4)
    }

    @Test func `is the timestamp unless it is the one that is known, within the same bounds`() async throws {
        var world = try World([.script("tip", "1", "tip;")])
        try await world.device.sync()
        let known = world.repository[URLLayout.timestamp]
        let server = NotingServer(world.repository)
        world.device.deadlines.document = .seconds(11)
        #expect(try await sync(world, server).isComplete)
        #expect(server.known.withLockedValue(\.self) == [URLLayout.timestamp: known])
        #expect(server.requests.map(\.deadline) == [.seconds(11), .seconds(11)])
        #expect(server.requests.map(\.limit) == [Limits.root, Limits.timestamp])
    }

    @Test func `is all metadata in one answer, within bounds, by what is here and what it was called`() async throws {
        var world = try World([.script("tip", "1", "tip;")])
        (world.device.express, world.device.deadlines.document) = (true, .seconds(11))
        try await world.device.sync()
        let server = NotingServer(world.repository)
        #expect(try await sync(world, server).isComplete)
        let list = try #require(try world.store.patchList(of: SimulatedRepository.production))
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1 && server.known.withLockedValue(\.isEmpty))
        #expect((request.limit, request.deadline) == (Limits.express, .seconds(11)))
        let digest = SHA256Digest(of: list).hex.prefix(16)
        #expect(request.query == "have=1.root,2.snapshot,1.targets,1.production,\(digest),diff")
        #expect(request.unless == "\"2.1\"")
    }

    @Test func `is answered a question within bounds too`() async throws {
        var world = try World([.script("tip", "1", "tip;")])
        try await world.setFacts { $0.answers = .set(true) }
        let server = NotingServer(world.repository)
        world.device.deadlines.document = .seconds(11)
        _ = try await sync(world, server)
        let question = try #require(server.requests.first { $0.question != nil })
        #expect(question.limit == Limits.answer && question.deadline == .seconds(11))
    }

    @Test func `is five objects at once, which leaves one connection for a newer list`() async throws {
        let world = try World((1...12).map { .script("script-\($0)", "1", "script(\($0));") })
        let crowd = Crowd(of: HTTPFetcher.connections - 1)
        world.repository.onRequest { path in
            if path.hasPrefix("objects/") { await crowd.join() }
        }
        #expect(try await world.device.sync().isComplete)
        #expect(await crowd.most == 5)
    }

    @Test func `has for all tries of one object together no more time than for one`() async throws {
        var world = try World([.script("tip", "1", "tip;")])
        let waits = world.retries(9)
        let (repository, server) = (world.repository, NotingServer(world.repository))
        world.device.deadlines.object = .seconds(100)
        let time = NIOLockedValueBox(ContinuousClock.now)
        world.device.timing.clock = { time.withLockedValue(\.self) }
        repository.fail(object("tip;"), with: .stalls)
        repository.onRequest { path in
            if path == object("tip;") { time.withLockedValue { $0 += .seconds(40) } }
        }
        _ = try? await sync(world, server)
        let deadlines = server.requests.filter { $0.path == object("tip;") }.map(\.deadline)
        #expect(deadlines.prefix(3) == [.seconds(100), .seconds(60), .seconds(20)])
        #expect(waits.withLockedValue(\.count) >= 2)
    }
}
