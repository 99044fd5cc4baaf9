import NIOConcurrencyHelpers
import PatchFormat
import PatchTesting
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

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        noted.withLockedValue { $0.append(request) }
        try await repository.fetch(request, take: take)
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
        engine.pauses = world.device.pauses
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

    @Test func `has for all tries of one object together no more time than for one`() async throws {
        var world = try World([.script("tip", "1", "tip;")])
        let waits = world.retries(9)
        let (repository, server) = (world.repository, NotingServer(world.repository))
        world.device.deadlines.object = .seconds(100)
        let time = NIOLockedValueBox(ContinuousClock.now)
        world.device.pauses.clock = { time.withLockedValue(\.self) }
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
