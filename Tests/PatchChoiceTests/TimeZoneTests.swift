import PatchFormat
import Testing

@testable import PatchChoice

@Suite("A time zone's clock")
struct TimeZoneTests {
    private static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    private static func rules(_ footer: String) throws -> TimeZoneRules {
        try TimeZoneRules(tzif: ZoneFile(footer: footer).bytes, named: "zone")
    }

    private func time(_ text: String) throws -> UTCTime { try #require(UTCTime(text)) }

    /// In 2026 the clock goes from 02:00 to 03:00 on 29 March, and from 03:00 back to 02:00 on 25 October, both at 01:00 UTC.
    @Test(arguments: [
        ("02:00-04:00", "2026-07-01T00:00:00Z", nil), ("02:00-04:00", "2026-07-01T02:00:00Z", "2026-07-02T00:00:00Z"),
        ("02:00-04:00", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"),
        ("02:00-04:00", "2026-03-28T04:00:00Z", "2026-03-29T01:00:00Z"),
        ("02:00-04:00", "2026-03-29T01:59:59Z", nil), ("02:00-04:00", "2026-03-29T02:00:00Z", "2026-03-30T00:00:00Z"),
        // Hours that do not exist.
        ("02:00-03:00", "2026-03-29T00:30:00Z", "2026-03-30T00:00:00Z"),
        ("sun 02:15-02:45", "2026-03-23T00:00:00Z", "2026-04-05T00:15:00Z"),
        ("01:30-02:30", "2026-03-29T00:59:59Z", nil), ("01:30-02:30", "2026-03-29T01:00:00Z", "2026-03-29T23:30:00Z"),
        // Hours that exist twice.
        ("02:00-03:00", "2026-10-25T00:00:00Z", nil), ("02:00-03:00", "2026-10-25T01:00:00Z", nil),
        ("02:00-03:00", "2026-10-25T02:00:00Z", "2026-10-26T01:00:00Z"),
        ("02:30-03:00", "2026-10-25T00:59:59Z", nil), ("02:30-03:00", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"),
        ("03:00-04:00", "2026-10-25T00:59:59Z", "2026-10-25T02:00:00Z"),
        // A window that the change opens in its midst.
        ("02:30-05:00", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"),
    ])
    func `opens a window by what it shows, also on the days on which it changes`(
        window: String,
        now: String,
        opens: String?
    ) throws {
        let windows = MaintenanceWindows([try #require(MaintenanceWindows.Window(window))])
        let clock = try Self.rules(Self.berlin)
        #expect(windows.opens(after: try time(now), by: clock)?.description == opens)
    }

    /// Looks at each quarter of an hour of two weeks around each change.
    @Test(arguments: [
        "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "IST-1GMT0,M10.5.0,M3.5.0/1",
    ])
    func `opens a window at the first moment at which it shows an hour of it`(_ footer: String) throws {
        let clock = try Self.rules(footer)
        let windows = MaintenanceWindows(
            try ["sun 01:30-02:15", "wed 23:00-01:00"].map { try #require(MaintenanceWindows.Window($0)) }
        )
        for begin in ["2027-03-21T00:00:00Z", "2027-10-24T00:00:00Z", "2027-04-01T00:00:00Z"] {
            let begin = try time(begin)
            var next: UTCTime?
            for quarter in (0..<14 * 96).reversed() {
                let now = begin.adding(.minutes(15 * quarter))
                let opens = windows.opens(after: now, by: clock)
                guard opens != nil else {
                    next = now
                    continue
                }
                if let next, opens != next {
                    Issue.record("\(footer), \(now): \(opens?.description ?? "") and not \(next)")
                    return
                }
            }
        }
    }

    @Test(arguments: [
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18_000),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18_000),
        // Winter time is the one that differs.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", 0),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3_600),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3_600),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 10_800),
        ("<+0330>-3:30", "2026-07-01T00:00:00Z", 12_600), ("UTC0", "9999-12-31T23:59:59Z", 0),
        ("XXX3EDT4,0/0,J365/23", "2026-07-01T00:00:00Z", -14_400), ("AAA0BBB,J60,J61", "2028-03-01T02:00:00Z", 3_600),
        ("AAA0BBB,59,60/1", "2028-02-29T12:00:00Z", 3_600), ("AAA0BBB,59,60/1", "2027-03-01T12:00:00Z", 3_600),
        ("AAA0BBB,M3.5.0,M10.5.0", "0000-01-01T00:00:00Z", 0),
    ])
    func `goes on by its last line for ever`(_ footer: String, _ at: String, _ offset: Int) throws {
        #expect(try Self.rules(footer).offset(at: try time(at)) == offset)
    }

    @Test func `is by its table as far as that goes, and by its first clock before`() throws {
        let file = ZoneFile(times: [-100, 100], indexes: [1, 0], offsets: [600, 1_200], footer: "AAA-5")
        let rules = try TimeZoneRules(tzif: file.bytes, named: "zone")
        let expected = [(-1_000, 600), (-101, 600), (-100, 1_200), (99, 1_200), (100, 18_000), (1_000, 18_000)]
        for (seconds, offset) in expected {
            #expect(rules.offset(at: UTCTime(seconds: seconds)) == offset, "\(seconds)")
        }
        let bare = try TimeZoneRules(
            tzif: ZoneFile(times: [0], indexes: [1], offsets: [0, 60], footer: "").bytes,
            named: "zone"
        )
        #expect(bare.offset(at: UTCTime(seconds: 1 << 33)) == 60 && bare.nextChange(after: UTCTime(seconds: 0)) == nil)
    }

    @Test(arguments: [
        ("zone is not a time zone (TZif)", ZoneFile(magic: "TZiF")),
        ("zone is of version 1, without the years after 2037", ZoneFile(version: 0)),
        ("zone counts leap seconds", ZoneFile(leapSeconds: 1)), ("zone has no clock", ZoneFile(offsets: [])),
        ("zone has changes out of order", ZoneFile(times: [5, 5], indexes: [0, 0])),
        ("zone names a clock that it lacks", ZoneFile(times: [5], indexes: [1])),
        ("zone has an offset of more than 26 hours", ZoneFile(offsets: [93_601])),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET-1CEST")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET-1CEST,M13.1.0,M10.5.0")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET-25")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET-1CEST,M3.5.0/168,M10.5.0")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "CET-1CEST,M3.5.0,M10.5.0,")),
        ("zone has a last line that is not a rule", ZoneFile(footer: "<CET-1")),
    ])
    func `is refused with the rule that its file breaks`(_ message: String, _ file: ZoneFile) {
        do throws(FormatError) {
            _ = try TimeZoneRules(tzif: file.bytes, named: "zone")
            Issue.record("it was taken")
        } catch { #expect(error.description == message) }
    }

    @Test func `is refused if its last line does not end`() {
        let cut = Array(ZoneFile(footer: Self.berlin).bytes.dropLast())
        let error = #expect(throws: FormatError.self) { try TimeZoneRules(tzif: cut, named: "zone") }
        #expect(error?.description == "zone has no last line")
    }

    @Test func `is refused wherever its file is cut, and never ends the process whatever a byte is`() throws {
        let whole = ZoneFile(times: [-5, 5], indexes: [0, 1], offsets: [0, 3_600], footer: Self.berlin).bytes
        _ = try TimeZoneRules(tzif: whole, named: "zone")
        for count in 0..<whole.count {
            #expect(throws: FormatError.self) { try TimeZoneRules(tzif: Array(whole.prefix(count)), named: "zone") }
        }
        for index in whole.indices {
            for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var bytes = whole
                bytes[index] = byte
                let rules = try? TimeZoneRules(tzif: bytes, named: "zone")
                _ = rules?.offset(at: UTCTime(seconds: 1 << 34))
                _ = rules?.nextChange(after: UTCTime(seconds: .min))
            }
        }
    }
}

/// A file of the system's database, of version 2; the block of version 1 in it is empty.
struct ZoneFile: Sendable {
    var magic = "TZif"
    var version: UInt8 = 0x32
    var leapSeconds = 0
    var times: [Int] = []
    var indexes: [UInt8] = []
    var offsets = [0]
    var footer = "UTC0"

    var bytes: [UInt8] {
        var bytes = header(times: 0, types: 0, characters: 0, leapSeconds: 0)
        bytes += header(times: times.count, types: offsets.count, characters: 4, leapSeconds: leapSeconds)
        for time in times { bytes += Self.bytes(time, 8) }
        bytes += indexes
        for offset in offsets { bytes += Self.bytes(offset, 4) + [0, 0] }
        bytes += Array("ABC\0".utf8)
        bytes += [UInt8](repeating: 0, count: 12 * leapSeconds)
        bytes += Array("\n\(footer)\n".utf8)
        return bytes
    }

    private func header(times: Int, types: Int, characters: Int, leapSeconds: Int) -> [UInt8] {
        var bytes = Array(magic.utf8)
        bytes.append(version)
        bytes += [UInt8](repeating: 0, count: 15)
        for count in [0, 0, leapSeconds, times, types, characters] { bytes += Self.bytes(count, 4) }
        return bytes
    }

    private static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
