import DeviceTesting
import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// A bundle of 400 kB on a disk that keeps 16 MB in reserve.
private let large = SimulatedPatch.bundle("web", "2", ["index.html": "<p>2</p>", "film.mp4": noise(400_000)])
private let reserve = 16_000_000

extension World {
    /// With a confirmed first version, and so much room for downloads.
    fileprivate static func running(with room: Int) async throws -> World {
        let world = try await World.running([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        world.disk.limitFreeSpace(to: reserve + room, isReported: true)
        return world
    }

    fileprivate func wait() throws -> SpaceShortage {
        let waits = try device.device.status().noRoom
        #expect(waits.count == 1)
        return try #require(waits.first?.wait)
    }
}

@Suite("A download that does not fit on the disk")
struct RoomTests {
    @Test func `is refused with both figures before anything of it is written, and what runs stays`() async throws {
        let world = try await World.running(with: 100_000)
        world.repository.publish([large])
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        let failure = try #require(report.failures.first)
        guard case .noRoom(let label, let wait) = failure.error else {
            Issue.record("\(failure)")
            return
        }
        #expect(label == Label(patchID: name("web"), version: name("2")) && report.failures.count == 1)
        // The film and the page, each in whole blocks.
        #expect(wait.needs == 401_408 + 4_096 && wait.reserve == reserve)
        #expect(wait.free > reserve && wait.free < reserve + 100_000)
        #expect(failure.error.description == "web 2 needs 405.5 kB, but 16.0 MB are free (16.0 MB are kept in reserve)")
        let requests = world.repository.takeRequests()
        #expect(!requests.contains { $0.hasPrefix("objects/") || $0.hasSuffix("full.pack") })
        #expect(try world.parts == [])
        #expect(report.noRoom.map(\.wait) == [wait] && report.staging != .staged)
        try world.expectWhole("web 1")
        #expect(try world.wait().needs == wait.needs)
    }

    @Test func `comes with the next sync once there is room, without any command`() async throws {
        let world = try await World.running(with: 100_000)
        world.repository.publish([large])
        #expect(try await !world.device.sync().isComplete)
        world.disk.limitFreeSpace(to: reserve + 900_000, isReported: true)
        #expect(try world.device.device.status().noRoom == [])
        #expect(try await world.device.sync().isComplete)
        try await world.device.launchAndConfirm()
        try world.expectWhole("web 2")
        #expect(try world.device.device.state().noRoom.rows.isEmpty)
    }

    @Test func `stops no smaller patch, and no withdrawal`() async throws {
        let old = SimulatedPatch.script("old", "1", "old;")
        let world = try await World.running([.bundle("web", "1", ["index.html": "<p>1</p>"]), old])
        world.disk.limitFreeSpace(to: reserve + 200_000, isReported: true)
        world.repository.publish([large, .script("fix", "1", "fix;")])
        let report = try await world.device.sync()
        #expect(report.failures.map(\.patchID) == [name("web")] && report.staging == .staged)
        try await world.device.launchAndConfirm()
        try world.expectWhole("fix 1, web 1")
    }

    @Test func `is announced by a dry run, which writes nothing of it`() async throws {
        let world = try await World.running(with: 100_000)
        world.repository.publish([large])
        #expect(try await !world.device.sync().isComplete)
        let forecast = try await world.device.forecast()
        #expect(forecast.noRoom.map(\.label.description) == ["web 2"])
        let first = try World([large])
        first.disk.limitFreeSpace(to: reserve + 100_000, isReported: true)
        // Nothing is here: the plain pack's length says what its files need.
        let announced = try await first.device.forecast()
        #expect(announced.noRoom.count == 1)
        #expect(try #require(announced.noRoom.first).wait.needs > 400_000)
    }

    @Test func `is explained by its room`() async throws {
        let world = try await World.running(with: 100_000)
        world.repository.publish([large])
        #expect(try await !world.device.sync().isComplete)
        let why = try world.device.device.status().decisions.flatMap(\.passedOver).map(\.why)
        guard case .noRoom(let wait) = try #require(why.first) else {
            Issue.record("\(why)")
            return
        }
        #expect(wait.needs > 400_000 && why.count == 1)
        #expect(try #require(why.first).code == "noRoom")
    }

    @Test func `counts the reserve that its owner set, and what other patches of the same sync need`() async throws {
        let world = try await World.running([.script("fix", "1", "fix;")])
        let files = { (seed: UInt64) in noise(300_000, seed: seed) }
        world.repository.publish([.script("a", "1", files(1)), .script("b", "1", files(2))])
        world.disk.limitFreeSpace(to: 700_000, isReported: true)
        #expect(try await world.device.sync().failures.count == 2)
        _ = try await world.store.changingConfiguration { configuration throws(SyncError) in
            configuration.reserve = 300_000
        }
        let device = try world.device.reopened(on: world.disk)
        let report = try await device.sync()
        // One of them fits.
        #expect(report.failures.count == 1 && report.failures.allSatisfy { $0.error.isNoRoom })
    }

    @Test func `that filled the disk all the same gives its partial files back`() async throws {
        let world = try await World.running([.bundle("web", "1", ["index.html": "<p>1</p>"])])
        world.repository.publish([large])
        world.disk.limitFreeSpace(to: 200_000)
        let error = await #expect(throws: SyncError.self) { try await world.device.sync() }
        #expect(error?.isNoSpace == true)
        #expect(try world.parts == [])
        try world.expectWhole("web 1")
        world.disk.limitFreeSpace(to: nil)
        #expect(try await world.device.sync().isComplete)
    }
}

@Suite("The reserve of a disk")
struct DiskRoomTests {
    @Test(
        arguments: [
            (nil, 16_000_000), (40_000_000, 16_000_000), (8_000_000, 4_000_000), (10_000_000_000, 100_000_000),
            (1_000_000_000_000, 256_000_000),
        ] as [(Int?, Int)]
    )
    func `is one percent within bounds, and half of a tiny disk`(total: Int?, reserve: Int) {
        #expect(DownloadSpace.standardReserve(of: total) == reserve)
    }

    @Test func `is what a download leaves free, to the byte`() {
        let room = DownloadSpace(DiskSpace(freeBytes: 1_000, totalBytes: nil, freeFiles: nil), reserve: 400)
        #expect(room.wait(for: 600) == nil)
        #expect(room.wait(for: 601) == SpaceShortage(needs: 601, free: 1_000, reserve: 400))
        let full = DownloadSpace(DiskSpace(freeBytes: 100, totalBytes: nil, freeFiles: nil), reserve: 400)
        #expect(full.wait(for: 0) == nil && full.wait(for: 1) != nil)
    }

    @Test(arguments: [(0, 0), (1, 4_096), (4_096, 4_096), (4_097, 8_192), (.max, .max)] as [(Int, Int)])
    func `is compared with whole blocks`(size: Int, taken: Int) {
        #expect(DownloadSpace.taken(by: size) == taken)
    }

    @Test func `of waiting versions survives in the state, and a row that is none is refused by name`() throws {
        var waits = SpaceShortages()
        let content = PatchContent(patchID: name("web"), sha256: SHA256Digest(of: [1]))
        waits.add(content, .init(version: name("2"), needs: 5))
        guard case .array(let rows) = waits.json else {
            Issue.record("\(String(describing: waits.json))")
            return
        }
        #expect(try SpaceShortages(rows, of: "state.json") == waits)
        let error = #expect(throws: FormatError.self) {
            try SpaceShortages([.fields([("patchId", .text("web"))])], of: "state.json")
        }
        #expect(error?.description.contains("noRoom[0]") == true)
    }
}

extension SyncError {
    fileprivate var isNoRoom: Bool { if case .noRoom = self { true } else { false } }
}
