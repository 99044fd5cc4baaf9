import Gateways
import PatchFormat
import PatchServer
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseService
import ServerRecords
import ServerTesting
import Testing

@Suite("A sketch of devices")
struct DeviceSketchTests {
    private static let salt = Array(repeating: UInt8(7), count: DeviceSketch.saltBytes)

    private static func sketch(_ numbers: some Sequence<Int>) -> DeviceSketch {
        var sketch = DeviceSketch()
        for number in numbers { _ = sketch.add("device \(number)", salt: salt) }
        return sketch
    }

    @Test func `counts a few exactly, and each once`() {
        #expect(DeviceSketch().count == 0)
        #expect(Self.sketch([1, 1, 1]).count == 1)
        #expect(Self.sketch(1...3).count == 3)
        var sketch = Self.sketch([1])
        let isNew = sketch.add("device 1", salt: Self.salt)
        #expect(!isNew, "nothing is to be written")
    }

    @Test(arguments: [1_000, 5_000, 100_000])
    func `is off by a few percent however many come`(_ count: Int) {
        let found = Self.sketch(1...count).count
        #expect(abs(found - count) * 100 <= count * 5, "\(found)")
    }

    @Test func `adds up to what both have seen`() {
        #expect(Self.sketch(1...3).union(Self.sketch(2...4)).count == 4)
    }

    @Test func `is the same from its record, and refuses another`() throws {
        let sketch = Self.sketch(1...50)
        #expect(try DeviceSketch(Fields(sketch.json, of: "sketch")) == sketch)
        for ranks in [Array(sketch.ranks.dropLast()), sketch.ranks.dropLast() + [55]] {
            let record = JSON.fields([("registers", .text(Base64.text(ranks)))])
            let rule = "must be base64 of 2048 small numbers"
            #expect(throws: FormatError("sketch", field: "registers", rule: rule)) {
                try DeviceSketch(Fields(record, of: "sketch"))
            }
        }
    }
}

@Suite("What a platform's clients report")
struct PlatformStatisticsTests {
    private let fixture: TestingOperations
    private let version: PlatformStatistics

    init() throws {
        fixture = try TestingOperations()
        version = PlatformStatistics(
            app: ReleaseFactory.app,
            channel: ReleaseFactory.production,
            appKey: named("0a1b"),
            appVersion: try #require(AppVersion("2.1")),
            version: try #require(LoaderVersion(3))
        )
    }

    private func count(_ outcome: PlatformStatistic.Outcome, _ device: String) async throws {
        try await version.count(
            outcome,
            on: try #require(PlatformDeviceID(device)),
            in: fixture.records.store,
            random: { count in (0..<count).map { UInt8($0) } }
        )
    }

    private func counts() async throws -> [PlatformCounts] {
        try await PlatformStatistics.counts(of: version.app, in: version.channel, from: fixture.records.store)
    }

    private func records() async throws -> [Record] {
        try await fixture.records.store.records(RecordRange(PlatformStatistics.collection, limit: 100))
    }

    @Test func `is counted once for a device and an outcome, and failures together by device`() async throws {
        for _ in 1...2 { try await count(.succeeded, "a") }
        try await count(.succeeded, "b")
        try await count(.failed(.otherMD5), "c")
        try await count(.failed(.untar), "c")
        let line = GatewayPackages.Line(.platform(version.appKey), version.appVersion)
        let expected = PlatformCounts(
            line: line,
            version: version.version,
            succeeded: 2,
            failed: 1,
            codes: [("5001", 1), ("5003", 1)]
        )
        #expect(try await counts() == [expected])
    }

    @Test func `takes no more room for a hundred forged ids than for one, and keeps none of them`() async throws {
        try await count(.succeeded, "a")
        let one = try await records()
        for number in 1...100 { try await count(.succeeded, "forged \(number)") }
        let many = try await records()
        #expect(one.count == 1 && many.count == 1)
        let (first, last) = (try #require(one.first).value, try #require(many.first).value)
        #expect(first.canonicalBytes.count == last.canonicalBytes.count)
        #expect(!String(decoding: last.canonicalBytes, as: UTF8.self).contains("forged"))
        let revision = try #require(many.first).revision
        for number in 1...100 { try await count(.succeeded, "forged \(number)") }
        #expect(try await records().first?.revision == revision, "those that are known are not written again")
    }

    @Test func `is refused by name where its record is another's`() async throws {
        try await count(.succeeded, "a")
        let record = try #require(try await records().first)
        let name = RecordKey(PlatformStatistics.collection, "\(version.app)/\(version.channel)/x")
        try await fixture.records.store.commit([.insert(name, record.value)])
        let rule = "must be named APP/CHANNEL/KEY/APPVERSION/VERSION/OUTCOME"
        await #expect(throws: RecordError.malformed(name, rule: rule)) { try await counts() }
        let strange = try #require(try await fixture.records.store.record(name))
        try await fixture.records.store.commit([.remove(strange)])
        let salt = try #require(
            try await fixture.records.store.record(RecordKey(PlatformStatistics.salts, version.app.text))
        )
        try await fixture.records.store.commit([.replace(salt, with: .fields([("salt", .text("00"))]))])
        await #expect(throws: RecordError.malformed(salt.key, rule: "must be 32 hex digits")) {
            try await count(.succeeded, "b")
        }
        try await fixture.records.store.commit([.replace(record, with: .fields([]))])
        await #expect(throws: RecordError.malformed(record.key, rule: "the sketch: registers must be a string")) {
            try await counts()
        }
    }
}
