import DeviceTesting
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

@Suite("What a device remembers of failed syncs")
struct SyncFailureTests {
    private static let channel = SimulatedRepository.production
    private static let full = SyncError.file(.noSpace(.write, "/store/objects/x"))

    private static func device(on files: FaultyFiles = FaultyFiles()) throws -> SimulatedDevice {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish([.bundle("web", "1", ["index.html": "1"])])
        return try SimulatedDevice(of: repository, clock: clock, on: files)
    }

    /// A sync that ends so.
    private static func fail(_ device: SimulatedDevice, _ error: SyncError) async throws {
        await #expect(throws: error) {
            try await device.store.notingFailure(at: device.clock.now) { () throws(SyncError) in throw error }
        }
    }

    private static func succeed(_ device: SimulatedDevice) async throws {
        _ = try await device.store.notingFailure(at: device.clock.now) { () throws(SyncError) in try await device.sync()
        }
    }

    @Test func `is the last failure, and how many there were in a row since when`() async throws {
        let device = try Self.device()
        #expect(device.store.syncFailure(of: Self.channel) == nil)
        let begin = device.clock.now()
        try await Self.fail(device, .fetch(.connection("timestamp.json", reason: "refused")))
        device.clock.advance(by: .hours(1))
        try await Self.fail(device, Self.full)
        let failure = try #require(device.store.syncFailure(of: Self.channel))
        #expect(failure.since == begin && failure.time == begin.adding(.hours(1)) && failure.inARow == 2)
        #expect(failure.code == .diskFull && failure.text == Self.full.description && failure.label == nil)
        #expect(try device.device.status().syncFailure == failure)
    }

    @Test func `is nothing once a sync succeeded, which is written once`() async throws {
        let device = try Self.device()
        try await Self.fail(device, Self.full)
        try await Self.succeed(device)
        #expect(device.store.syncFailure(of: Self.channel) == nil)
        #expect(try device.device.status().syncFailure == nil)
        let file = device.store.directory(of: Self.channel).at("sync.json")
        let before = try device.store.files.identity(of: file)
        try await Self.succeed(device)
        #expect(try device.store.files.identity(of: file) == before && before != nil)
        try await Self.fail(device, Self.full)
        #expect(device.store.syncFailure(of: Self.channel)?.inARow == 1)
    }

    @Test func `counts neither what was cancelled nor what another process did meanwhile`() async throws {
        let device = try Self.device()
        try await Self.fail(device, Self.full)
        let before = device.store.syncFailure(of: Self.channel)
        for error in [SyncError.fetch(.cancelled), .lock(.held("/store/sync.lock", by: 7))] {
            try await Self.fail(device, error)
        }
        #expect(device.store.syncFailure(of: Self.channel) == before)
    }

    @Test func `names the version that could not be fetched, where the sync itself went on`() async throws {
        let device = try Self.device()
        let other = try SimulatedDevice(of: device.repository, clock: device.clock, on: FaultyFiles())
        try await other.sync()
        for path in device.repository.takeRequests() where path.hasPrefix("objects/") || path.hasPrefix("packs/") {
            device.repository.fail(path, with: .notFound)
        }
        let report = try await device.store.notingFailure(at: device.clock.now) { () throws(SyncError) in
            try await device.sync()
        }
        try #require(!report.failures.isEmpty)
        let failure = try #require(device.store.syncFailure(of: Self.channel))
        #expect(failure.label?.description == "web 1" && failure.code == .notFound)
        #expect(failure.sentence(at: failure.time).contains(", web 1: the server lacks a file, 1 in a row"))
    }

    @Test func `is kept on a full disk, in the place of what was kept before`() async throws {
        let files = FaultyFiles()
        let device = try Self.device(on: files)
        try await Self.succeed(device)
        files.limitFreeSpace(to: 0)
        try await Self.fail(device, Self.full)
        #expect(device.store.syncFailure(of: Self.channel)?.inARow == 1)
        try await Self.fail(device, Self.full)
        #expect(device.store.syncFailure(of: Self.channel)?.inARow == 2)
        let names = try device.store.files.list(device.store.directory(of: Self.channel))
        #expect(names.filter { $0.contains("sync.json") } == ["sync.json"])
    }

    @Test(arguments: 0...5)
    func `is the old or the new one wherever the power fails, and the sync's own error stays`(_ change: Int)
        async throws
    {
        let files = FaultyFiles()
        let device = try Self.device(on: files)
        try await Self.fail(device, Self.full)
        let old = device.store.syncFailure(of: Self.channel)
        let stopped = files.reopened(failingAtChange: change)
        let store = DeviceStore(root: device.store.root, files: stopped, isShared: false, admitting: .all)
        await #expect(throws: Self.full) {
            try await store.notingFailure(at: device.clock.now) { () throws(SyncError) in throw Self.full }
        }
        let after = DeviceStore(root: device.store.root, files: stopped.reopened(), isShared: false, admitting: .all)
        let found = after.syncFailure(of: Self.channel)
        #expect(found == old || found?.inARow == 2)
    }

    @Test(arguments: [
        "", "{", "null", "{}", #"{"format":"patchline-sync-v2","failure":{}}"#, #"{"format":"patchline-sync-v1"}"#,
        #"{"format":"patchline-sync-v1","failure":{"at":"2026-11-27T15:15:00Z","since":"x","inARow":1,"code":"a","error":"b"}}"#,
        #"{"format":"patchline-sync-v1","failure":{"at":"2026-11-27T15:15:00Z","since":"2026-11-27T15:15:00Z","inARow":0,"code":"a","error":"b"}}"#,
    ])
    func `is nothing where the file cannot be read, and the next failure begins anew`(_ text: String) async throws {
        let device = try Self.device()
        try device.store.save(Array(text.utf8), as: "sync.json", of: Self.channel)
        #expect(device.store.syncFailure(of: Self.channel) == nil)
        try await Self.fail(device, Self.full)
        #expect(device.store.syncFailure(of: Self.channel)?.inARow == 1)
    }

    @Test func `is told on one line, with the date of another day`() throws {
        let time = try #require(UTCTime("2026-11-27T15:15:59Z"))
        func told(_ now: String, _ code: SyncFailureCode = .diskFull) throws -> String {
            let failure = SyncFailure(time: time, since: time, inARow: 3, code: code, text: "…")
            return failure.sentence(at: try #require(UTCTime(now)))
        }
        #expect(try told("2026-11-27T23:59:59Z") == "last sync failed 15:15 UTC, disk full, 3 in a row")
        #expect(try told("2026-11-28T00:00:00Z") == "last sync failed 2026-11-27 15:15 UTC, disk full, 3 in a row")
        #expect(
            try told("2026-11-27T15:16:00Z", .webPage)
                == "last sync failed 15:15 UTC, a captive portal or proxy answers in the server's place, 3 in a row"
        )
        #expect(Set(SyncFailureCode.allCases.map(\.words)).count == SyncFailureCode.allCases.count)
    }

    @Test(arguments: [
        (SyncError.fetch(.noAddress(host: "a")), SyncFailureCode.nameUnknown), (.fetch(.stalled("a")), .noAnswer),
        (.fetch(.intercepted("a", .status(511))), .webPage), (.fetch(.webPage("a")), .webPage),
        (.fetch(.redirected("a", to: "b")), .redirected), (.fetch(.status("a", code: 500)), .serverFailed),
        (.fetch(.tls(.unknownIssuer(host: "a"))), .certificateUntrusted),
        (.file(.readOnly(.write, "/a")), .notWritable),
        (.lock(.file(.noSpace(.create, "/a"))), .diskFull), (.file(.io(.read, "/a", .ioError)), .diskFailed),
        (.trust(.threshold(role: "root", valid: 0, needed: 1)), .altered), (.noStore("/a"), .storeDamaged),
        (.nothingPending, .other),
    ])
    func `has a code for programs`(_ error: SyncError, _ code: SyncFailureCode) {
        #expect(SyncFailureCode(error) == code)
    }
}
