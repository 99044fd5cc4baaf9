import DeviceTesting
import NIOConcurrencyHelpers
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// A bundle `web` of files `00.js`, `01.js`, …, and no page else.
private func bundle(_ version: String, _ texts: [String]) -> SimulatedPatch {
    var files = Dictionary(uniqueKeysWithValues: texts.enumerated().map { (fileName($0), $1) })
    files["index.html"] = "<p>\(version)</p>"
    return .bundle("web", version, files)
}

private func fileName(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number).js" }

/// A hundred bytes that say which they are.
private func text(_ number: Int, _ version: Int = 1) -> String {
    let name = "file \(number) of \(version);"
    return name + String(repeating: ".", count: 100 - name.utf8.count)
}

private let texts = (0..<20).map { text($0) }

extension World {
    /// Of the newest version of `web`.
    fileprivate func pack() throws -> String {
        let version = try #require(repository.tree.offers[SimulatedRepository.production]?.first?.version)
        let prefix = "targets/production/web/\(version)/"
        let manifest = try #require(
            repository.tree.files.keys.first { $0.hasPrefix(prefix) && $0.hasSuffix(".manifest.json") }
        )
        let digest = try #require(SHA256Digest(hex: String(manifest.dropFirst(prefix.count).prefix(64))))
        return URLLayout.fullPack(of: digest)
    }

    /// What was asked for but documents, in order; packs by their bytes alone.
    fileprivate func transfers() throws -> [String] {
        let pack = try pack()
        return repository.takeRequests().compactMap { request in
            if request.hasPrefix(pack) { return "pack\(request.dropFirst(pack.count))" }
            return request.hasPrefix("objects/") || request.hasPrefix("packs/") ? request : nil
        }
    }

    fileprivate static func settled(_ patches: [SimulatedPatch]) async throws -> World {
        let world = try World(patches)
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        _ = world.repository.takeRequests()
        return world
    }
}

@Suite("A pack")
struct PackTests {
    /// `index.html`, which comes after the scripts.
    private let page = 8

    @Test func `brings the neighbours of a bundle in one request, and each is compared with its entry`() async throws {
        let world = try World([bundle("1", texts)])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.failures == [])
        #expect(try world.transfers() == ["pack 0..<\(2_000 + page)"])
        #expect(report.filesReceived == 23)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test func `is asked for what is missing alone; few neighbours come by themselves`() async throws {
        let world = try await World.settled([bundle("1", texts)])
        let changed = (0..<20).map { [2, 3].contains($0) || (8..<18).contains($0) ? text($0, 2) : text($0) }
        world.repository.publish([bundle("2", changed)])
        let before = world.repository.bytesSent
        #expect(try await world.device.sync().isComplete)
        let transfers = try world.transfers()
        #expect(Set(transfers) == [object(text(2, 2)), object(text(3, 2)), "pack 800..<1800", object("<p>2</p>")])
        #expect(transfers.count == 4)
        let documents = world.repository.tree.files.filter { $0.key.contains("/web/2/") || $0.key.contains("/2.") }
        #expect(
            world.repository.bytesSent - before < 1_200 + page + documents.reduce(0) { $0 + $1.value.count } + 9_000
        )
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 2")
    }

    @Test func `is asked for once where a server has none, and its objects come one by one`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .notFound)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        let transfers = try world.transfers()
        #expect(transfers.first == "pack 0..<\(2_000 + page)" && transfers.count == 22)
        #expect(Set(transfers.dropFirst()) == Set(texts.map { object($0) } + [object("<p>1</p>")]))
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that has another byte is given up there, and its server is named with the entry`() async throws {
        let world = try World([bundle("1", texts)])
        // In file 10.
        world.repository.fail(try world.pack(), with: .bitFlipped(at: 0.5))
        let report = try await world.device.sync()
        #expect(report.isComplete)
        let wrong = MirrorFault.Wrong.lied(.object(entry: "web 1 10.js", field: "md5"))
        #expect(report.mirrors == [MirrorFault(server: SimulatedDevice.server.text, wrong: wrong)])
        // What came before it stays; all else comes by itself.
        let rest = (10..<20).map { object(texts[$0]) } + [object("<p>1</p>")]
        #expect(Set(try world.transfers().dropFirst()) == Set(rest))
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that breaks off goes on at the byte with the object, and then with the rest of the pack`() async throws
    {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .breaksOff(after: 730))
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        // It breaks off each time; what is asked for at the same time may change places.
        let objects = ["\(object(texts[7])) from 30", "\(object(texts[15])) from 30"]
        let rest = (16..<20).map { object(texts[$0]) } + [object("<p>1</p>")]
        #expect(try world.transfers().sorted() == (["pack 0..<2008", "pack 800..<2008"] + objects + rest).sorted())
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
        #expect(try world.parts == [])
    }

    @Test(arguments: [
        SimulatedRepository.Fault.connection, .stalls, .timesOut, .status(500), .status(403), .busy(1),
        .shortened(to: 0),
        .breaksOff(after: 0),
    ])
    func `that brings nothing is not asked for again in the same sync`(fault: SimulatedRepository.Fault) async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: fault)
        let report = try await world.device.sync()
        #expect(report.isComplete && report.mirrors == [])
        #expect(try world.transfers().filter { $0.hasPrefix("pack") }.count == 1)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `that has no end ends with what was asked for`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .endless)
        let report = try await world.device.sync()
        #expect(report.isComplete)
        #expect(report.mirrors.map(\.server) == [SimulatedDevice.server.text])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `comes from the mirror where the server breaks off`() async throws {
        var world = try World([bundle("1", texts)])
        let mirror = world.mirror()
        world.repository.fail(try world.pack(), with: .breaksOff(after: 1_000))
        let report = try await world.device.sync()
        #expect(report.isComplete)
        #expect(try world.transfers() == ["pack 0..<2008"])
        // At the same time.
        #expect(Set(mirror.takeRequests()) == [object(texts[10]), "\(try world.pack()) 1100..<2008"])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `leaves an object alone that came in part, which goes on at the byte`() async throws {
        let world = try World([bundle("1", texts)])
        world.repository.fail(try world.pack(), with: .notFound)
        world.repository.fail(object(texts[9]), with: .breaksOff(after: 40))
        #expect(try await !world.device.sync().isComplete)
        for number in 0..<20 where number != 9 {
            try world.disk.remove(world.store.objects.path(of: digest(texts[number])))
        }
        world.repository.repair(try world.pack())
        world.repository.repair(object(texts[9]))
        _ = try world.transfers()
        #expect(try await world.device.sync().isComplete)
        #expect(Set(try world.transfers()) == ["pack 0..<900", "\(object(texts[9])) from 40", "pack 1000..<2000"])
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `keeps what came of it when the sync is cancelled`() async throws {
        var world = try World([bundle("1", texts)])
        let device = world.device
        let count = NIOLockedValueBox(0)
        let sync = NIOLockedValueBox<Task<Void, any Error>?>(nil)
        world.device.report = { event in
            guard case .fileDone(let entry) = event, entry.hasSuffix(".js") else { return }
            if count.withLockedValue({
                $0 += 1; return $0 == 12
            }) {
                sync.withLockedValue { $0?.cancel() }
            }
        }
        let cancelled = world.device
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in started { break }
            _ = try await cancelled.sync()
        }
        sync.withLockedValue { $0 = task }
        start.finish()
        await #expect(throws: SyncError.fetch(.cancelled)) { try await task.value }
        _ = try world.transfers()
        #expect(try await device.sync().isComplete)
        // It came in pieces of 700 bytes, and was cancelled in the second.
        #expect(Set(try world.transfers()) == Set((14..<20).map { object(texts[$0]) } + [object("<p>1</p>")]))
        try await device.launchAndConfirm()
        try world.expectWhole("web 1")
    }

    @Test func `on a full disk ends the sync, and is gone on with when there is room`() async throws {
        let world = try World([bundle("1", texts)])
        let rehearsal = world.disk.reopened()
        _ = try await world.device.reopened(on: rehearsal).sync()
        let half = world.disk.reopened(failingAtChange: rehearsal.changes / 2)
        await #expect(throws: SyncError.self) { try await world.device.reopened(on: half).sync() }
        let disk = half.crashed(.keep)
        let device = try world.device.reopened(on: disk)
        #expect(try await device.sync().isComplete)
        try await device.launchAndConfirm()
        try expectNoFaults(device, "after the disk had room again")
    }
}

private func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }
