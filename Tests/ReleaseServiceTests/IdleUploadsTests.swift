import PatchFormat
import Testing

@testable import ReleaseService

@Suite("An upload that is not continued")
struct IdleUploadsTests {
    private let now = UTCTime(seconds: 1_800_000_000)

    @Test func `is stale after two days, also if the clock was years ahead when its bytes came`() {
        let future = now.adding(.days(3_650))
        // A byte that comes under the right clock, on day 3, begins its time anew.
        let looks = [
            (now, 0, false), (now, 2, false), (now, 3, true), (future, 0, false), (future, 2, false), (future, 3, true),
            (now.adding(.days(3)), 4, false), (future, 5, false), (future, 7, false), (future, 8, true),
        ]
        var idle = IdleUploads()
        for (touched, days, expected) in looks {
            let isStale = idle.isStale("a", touched: touched, now: now.adding(.days(days)), patience: .days(2))
            #expect(isStale == expected, "day \(days) of \(touched)")
        }
        // The clock was ahead again, when it was seen last.
        var other = IdleUploads()
        let results = [future, now, now.adding(.days(3))].map {
            other.isStale("b", touched: now.adding(.days(9_000)), now: $0, patience: .days(2))
        }
        #expect(results == [false, false, true])
    }
}
