import DeviceTesting
import HTTPCore
import Linux
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// One large file beside small ones.
private let large = String(repeating: "0123456789", count: 28_000)
private let other = String(repeating: "abcdefghij", count: 28_000)

extension World {
    /// Where the bytes of an object that is not complete stand.
    func part(_ text: String) -> FilePath {
        store.root.appending("PartialDownload").appending("\(SHA256Digest(of: Array(text.utf8))).part")
    }

    func partSize(_ text: String) throws -> Int? { try disk.status(of: part(text))?.identity.size }

    var parts: [String] { get throws { try disk.list(store.root.appending("PartialDownload")) } }

    /// Asks again as often as the defaults say, and notes how long it would have waited.
    mutating func retries(_ count: Int = 4) -> NIOLockedValueBox<[Duration]> {
        let waits = NIOLockedValueBox<[Duration]>([])
        device.deadlines.retries = count
        device.timing.sleep = { wait in waits.withLockedValue { $0.append(wait) } }
        device.timing.random = { 0.5 }
        device.timing.networkChanges = .none
        return waits
    }

    func objectRequests() -> [String] { repository.takeRequests().filter { $0.hasPrefix("objects/") } }
}

@Suite("A download that broke off")
struct ResumeTests {
    private let script = SimulatedPatch.script("large", "1", large)

    @Test func `goes on at the byte in the next sync, and no byte travels twice`() async throws {
        let world = try World([script])
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [.fetch(.short(object(large)))])
        #expect(try world.partSize(large) == 70_000)
        _ = world.repository.takeRequests()
        let before = world.repository.bytesSent
        world.repository.repair(object(large))
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests() == ["\(object(large)) from 70000"])
        #expect(world.repository.bytesSent - before >= large.utf8.count - 70_000)
        #expect(world.repository.bytesSent - before < large.utf8.count - 70_000 + 5_000)
        #expect(try world.parts == [])
    }

    @Test func `goes on at the byte within the same sync, and starts the count of tries anew`() async throws {
        var world = try World([script])
        let waits = world.retries()
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        #expect(try await world.device.sync().isComplete)
        let offsets = [70_000, 140_000, 210_000].map { "\(object(large)) from \($0)" }
        #expect(world.objectRequests() == [object(large)] + offsets)
        #expect(waits.withLockedValue(\.self) == Array(repeating: .milliseconds(100), count: 3))
    }

    @Test(arguments: [".manifest.json", ".manifest.sigs"])
    func `of a bundle's manifest or signatures goes on at the byte too`(ending: String) async throws {
        let world = try World([.bundle("web", "1", ["index.html": "<p>1</p>", "a.js": "a;", "b.js": "b;"])])
        let path = try #require(world.repository.tree.files.keys.first { $0.hasSuffix(ending) })
        world.repository.fail(path, with: .breaksOff(after: 700))
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [.fetch(.short(path))])
        _ = world.repository.takeRequests()
        world.repository.repair(path)
        #expect(try await world.device.sync().isComplete)
        #expect(world.repository.takeRequests().filter { $0.hasPrefix(path) } == ["\(path) from 700"])
        #expect(try world.parts == [])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test(arguments: [nil, "\"5f3-61a80\"", "Thu, 19 Nov 2026 08:00:00 GMT"])
    func `goes on by the name that the server gave, and begins anew without one`(name: String?) async throws {
        let world = try World([script])
        world.repository.name { $0.count == large.utf8.count ? name : nil }
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        _ = try await world.device.sync()
        let digest = SHA256Digest(of: Array(large.utf8))
        #expect(try world.parts == ["\(digest).part"] + (name == nil ? [] : ["\(digest).tag"]))
        _ = world.repository.takeRequests()
        world.repository.repair(object(large))
        let before = world.repository.bytesSent
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests() == ["\(object(large)) from 70000"])
        #expect((world.repository.bytesSent - before < large.utf8.count) == (name != nil))
        #expect(try world.parts == [])
    }

    @Test func `begins anew where the server's file has another name by now`() async throws {
        let world = try World([script])
        world.repository.name { _ in "\"one\"" }
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        _ = try await world.device.sync()
        world.repository.name { _ in "\"two\"" }
        world.repository.repair(object(large))
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        try world.expectWhole("large 1")
    }

    @Test func `whose beginning is not the object's is fetched once more from the first byte, in the same sync`()
        async throws
    {
        let world = try World([script])
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        _ = try await world.device.sync()
        try world.disk.rot(world.part(large))
        world.repository.repair(object(large))
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests() == ["\(object(large)) from 70000", object(large)])
        #expect(try world.parts == [])
    }

    @Test func `is refused when it is wrong from the first byte too, and asked for no third time`() async throws {
        var world = try World([script])
        _ = world.retries()
        world.device.deadlines.retries = 0
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        _ = try await world.device.sync()
        _ = world.repository.takeRequests()
        world.device.deadlines.retries = 4
        world.repository.fail(object(large), with: .bitFlipped(at: 0.9))
        let report = try await world.device.sync()
        #expect(report.failures.map(\.error) == [.object(entry: "large 1", field: "md5")])
        #expect(world.objectRequests() == ["\(object(large)) from 70000", object(large)])
        #expect(try world.parts == [])
    }

    @Test func `asks for nothing more when every byte is here`() async throws {
        let world = try World([script])
        try world.disk.write(Array(large.utf8), to: world.part(large))
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests() == [])
    }

    @Test func `keeps what is still wanted, and nothing else, when another version is listed`() async throws {
        let files = ["index.html": "<p>1</p>", "a.bin": large, "b.bin": other]
        let world = try World([.bundle("web", "1", files)])
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        world.repository.fail(object(other), with: .breaksOff(after: 30_000))
        _ = try await world.device.sync()
        #expect(try world.partSize(large) == 70_000 && world.partSize(other) == 30_000)
        // Renamed, and the other is gone.
        world.repository.publish([.bundle("web", "2", ["index.html": "<p>2</p>", "sub/c.bin": large])])
        for path in [object(large), object(other)] { world.repository.repair(path) }
        _ = world.repository.takeRequests()
        #expect(try await world.device.sync().isComplete)
        #expect(
            Set(world.objectRequests()) == ["\(object(large)) from 70000", object("<p>2</p>")]
        )
        #expect(try world.parts == [])
    }

    @Test func `keeps its bytes while the server cannot be reached`() async throws {
        let world = try World([script])
        world.repository.fail(object(large), with: .breaksOff(after: 70_000))
        _ = try await world.device.sync()
        world.repository.fail(URLLayout.timestamp, with: .connection)
        await #expect(throws: SyncError.fetch(.connection(URLLayout.timestamp, reason: "unplugged"))) {
            try await world.device.sync()
        }
        #expect(try world.partSize(large) == 70_000)
    }
}

@Suite("A sync over a bad network")
struct RetryTests {
    @Test func `tries again after each wait, and gives up after as many as are set`() async throws {
        var world = try World()
        let waits = world.retries(2)
        world.repository.fail(URLLayout.timestamp, with: .connection)
        await #expect(throws: SyncError.fetch(.connection(URLLayout.timestamp, reason: "unplugged"))) {
            try await world.device.sync()
        }
        #expect(world.repository.takeRequests().count(where: { $0 == URLLayout.timestamp }) == 3)
        #expect(waits.withLockedValue(\.self) == [.milliseconds(100), .milliseconds(100)])
    }

    @Test func `succeeds when the network comes back in time`() async throws {
        var world = try World()
        let (repository, tries) = (world.repository, NIOLockedValueBox(0))
        _ = world.retries(4)
        repository.fail(URLLayout.timestamp, with: .stalls)
        repository.onRequest { path in
            guard path == URLLayout.timestamp else { return }
            if tries.withLockedValue({
                $0 += 1; return $0
            }) == 2 {
                repository.repair(URLLayout.timestamp)
            }
        }
        #expect(try await world.device.sync().isComplete)
    }

    @Test func `heeds Retry-After within its limit`() async throws {
        var world = try World()
        let waits = world.retries(2)
        world.repository.fail(URLLayout.timestamp, with: .busy(7))
        await #expect(throws: SyncError.fetch(.busy(URLLayout.timestamp, code: 503, retryAfter: 7))) {
            try await world.device.sync()
        }
        #expect(waits.withLockedValue(\.self) == [.seconds(7), .seconds(7)])
    }

    @Test func `tries again at once when the network changes`() async throws {
        var world = try World()
        let repository = world.repository
        _ = world.retries(4)
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        // A wait that never ends by itself.
        world.device.timing.sleep = { _ in try await Task.sleep(for: .seconds(3_600)) }
        world.device.timing.networkChanges = NetworkChanges { changes }
        repository.fail(URLLayout.timestamp, with: .connection)
        let events = NIOLockedValueBox<[SyncEvent]>([])
        world.device.report = { event in
            events.withLockedValue { $0.append(event) }
            guard case .waiting = event else { return }
            repository.repair(URLLayout.timestamp)
            change.yield()
        }
        #expect(try await world.device.sync().isComplete)
        #expect(events.withLockedValue { $0.contains(.networkChanged) })
    }

    @Test func `does not try again what a person must look at`() async throws {
        var world = try World()
        let waits = world.retries()
        world.repository.fail(URLLayout.timestamp, with: .bitFlipped(at: 0.5))
        await #expect(throws: SyncError.self) { try await world.device.sync() }
        #expect(waits.withLockedValue(\.self) == [])
    }

    @Test func `ends at its own deadline, and what came is kept`() async throws {
        var world = try World([.script("large", "1", large), .script("tip", "1", "tip;")])
        let repository = world.repository
        world.device.deadlines.sync = .seconds(77)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        world.device.timing.sleep = { wait in
            guard wait == .seconds(77) else { return }
            for await _ in asked { return }
        }
        repository.onRequest { path in
            guard path == object(large) else { return }
            ask.yield()
            try? await Task.sleep(for: .seconds(3_600))
        }
        await #expect(throws: SyncError.fetch(.syncDeadline(seconds: 77))) { try await world.device.sync() }
        repository.onRequest(nil)
        _ = repository.takeRequests()
        world.device.deadlines.sync = nil
        #expect(try await world.device.sync().isComplete)
    }

    @Test func `stops at once when it is cancelled, and the next one goes on`() async throws {
        var world = try World([.script("large", "1", large)])
        let repository = world.repository
        world.device.deadlines.retries = 4
        repository.fail(object(large), with: .breaksOff(after: 70_000))
        let (waiting, wait) = AsyncStream.makeStream(of: Void.self)
        world.device.timing.networkChanges = .none
        world.device.timing.sleep = { _ in
            wait.yield()
            try await Task.sleep(for: .seconds(3_600))
        }
        let device = world.device
        let task = Task { () throws(SyncError) in try await device.sync() }
        for await _ in waiting { break }
        task.cancel()
        await #expect(throws: SyncError.fetch(.cancelled)) { try await task.value }
        #expect(try world.partSize(large) == 70_000)
        repository.repair(object(large))
        _ = repository.takeRequests()
        #expect(try await world.device.sync().isComplete)
        #expect(world.objectRequests() == ["\(object(large)) from 70000"])
    }
}
