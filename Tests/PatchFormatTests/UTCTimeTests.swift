import PatchFormat
import Testing

@Suite("A time")
struct UTCTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01Z", 1), ("1969-12-31T23:59:59Z", -1),
        ("1969-01-01T00:00:00Z", -31_536_000),
        ("2000-02-29T12:00:00Z", 951_825_600), ("2024-02-29T23:59:59Z", 1_709_251_199),
        ("2026-11-20T08:00:00Z", 1_795_161_600),
        ("2100-02-28T00:00:00Z", 4_107_456_000), ("2100-03-01T00:00:00Z", 4_107_542_400),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
        ("1600-02-29T00:00:00Z", -11_670_998_400), ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("0000-01-01T00:00:00Z", -62_167_219_200),
    ])
    func `counts seconds since 1970 and is written as it was read`(_ text: String, seconds: Int) throws {
        let time = try #require(UTCTime(text))
        #expect(time.seconds == seconds)
        #expect(time.description == text)
        #expect(UTCTime(seconds: seconds) == time)
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T08:00:00", "2026-11-20T08:00:00z", "2026-11-20t08:00:00Z", "2026-11-20 08:00:00Z",
        "2026-11-20T08:00:00.0Z", "2026-11-20T08:00:00+00:00", "2026-11-20T08:00:00+01", "26-11-20T08:00:00Z",
        "2026-11-20T8:00:00Z",
        "2026-1-20T08:00:000Z", " 2026-11-20T08:00:00", "+026-11-20T08:00:00Z", "-026-11-20T08:00:00Z",
        "2026-11-20T08:00:0 Z",
        "2026/11/20T08:00:00Z", "2026-11-20T08.00.00Z", "20261120T080000Z    ", "10000-01-01T00:00:00",
        "２026-11-20T08:00Z", "2026-W47-5T08:00:00Z",
    ])
    func `has one spelling`(_ text: String) {
        #expect(UTCTime(text) == nil)
    }

    @Test(arguments: [
        "2026-00-20T08:00:00Z", "2026-13-20T08:00:00Z", "2026-11-00T08:00:00Z", "2026-11-31T08:00:00Z",
        "2026-01-32T08:00:00Z",
        "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-02-30T00:00:00Z",
        "2026-11-20T24:00:00Z",
        "2026-11-20T08:60:00Z", "2026-11-20T08:00:60Z", "2026-12-31T23:59:60Z",
    ])
    func `names a moment that there was`(_ text: String) {
        #expect(UTCTime(text) == nil)
    }

    @Test func `goes on by durations across days and leap years`() {
        #expect(time("2024-02-28T23:00:00Z").adding(.hours(2)) == time("2024-02-29T01:00:00Z"))
        #expect(time("2023-12-31T23:59:00Z").adding(.minutes(1)) == time("2024-01-01T00:00:00Z"))
        #expect(time("2026-11-20T08:00:00Z").adding(.days(365)) == time("2027-11-20T08:00:00Z"))
        #expect(time("2026-11-20T08:00:00Z").adding(.seconds(-1)) == time("2026-11-20T07:59:59Z"))
    }

    @Test func `sorts by moment`() {
        #expect(time("1969-12-31T23:59:59Z") < time("1970-01-01T00:00:00Z"))
    }

    @Test func `of every day of 400 years reads back`() {
        for day in -73_000..<73_097 {
            let time = UTCTime(seconds: day * 86_400 + 43_210)
            guard UTCTime(time.description) == time else {
                Issue.record("\(time) does not read back")
                return
            }
        }
    }
}
