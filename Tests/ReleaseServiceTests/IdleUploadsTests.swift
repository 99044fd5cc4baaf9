import PatchFormat
import Testing

@testable import ReleaseService

@Suite("An upload that is not continued")
struct IdleUploadsTests {
    private let now = UTCTime(seconds: 1_800_000_000)

    @Test func `is stale after two days, also if the clock was years ahead when its bytes came`() {
        var idle = IdleUploads()
        func isStale(_ touched: UTCTime, _ days: Int) -> Bool {
            idle.isStale("a", touched: touched, now: now.adding(.days(days)), patience: .days(2))
        }
        #expect(!isStale(now, 0) && !isStale(now, 2) && isStale(now, 3))
        let future = now.adding(.days(3_650))
        #expect(!isStale(future, 0) && !isStale(future, 2) && isStale(future, 3))
        // A byte that comes under the right clock begins its time anew.
        #expect(!isStale(now.adding(.days(3)), 4))
        #expect(!isStale(future, 5) && !isStale(future, 7))
        // The clock was ahead again, when it was seen last.
        var other = IdleUploads()
        #expect(!other.isStale("b", touched: now.adding(.days(9_000)), now: future, patience: .days(2)))
        #expect(!other.isStale("b", touched: now.adding(.days(9_000)), now: now, patience: .days(2)))
        #expect(other.isStale("b", touched: now.adding(.days(9_000)), now: now.adding(.days(3)), patience: .days(2)))
    }
}
