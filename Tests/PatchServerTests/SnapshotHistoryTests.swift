import PatchFormat
import Testing

import ServerTesting
@testable import PatchServer

@Suite("When a snapshot was superseded")
struct SnapshotHistoryTests {
    private func at(_ hours: Int) -> UTCTime { TestingServer.start.adding(.hours(hours)) }

    private func history(
        _ files: [Int: Int],
        current: (snapshot: Int, timestamp: Int),
        timestampAt: Int,
        clock: Int = 1_000
    ) -> SnapshotHistory {
        SnapshotHistory(
            files: files.mapValues { at($0) },
            current: current,
            timestampWritten: at(timestampAt),
            signedAt: at(timestampAt),
            clock: at(clock)
        )
    }

    @Test
    func `is when the next one was written`() {
        let history = history([1: 0, 2: 6, 3: 12, 4: 18], current: (4, 4), timestampAt: 18)
        #expect([1, 2, 3].map(history.superseded) == [at(6), at(12), at(18)])
    }

    @Test
    func `is when the timestamp was, for the last before the current one`() {
        let history = history([1: 0, 2: 6], current: (2, 2), timestampAt: 9)
        #expect(history.superseded(1) == at(9))
    }

    /// 2 and 3 were written, and the publish stopped each time before readers saw them.
    @Test
    func `counts as many successors more as were never current`() {
        let history = history([1: 0, 2: 6, 3: 7, 4: 90, 5: 96, 6: 102], current: (6, 4), timestampAt: 102)
        #expect([1, 2, 3, 4].map(history.superseded) == [at(90), at(96), at(102), at(102)])
    }

    @Test
    func `is as late as can be where the timestamp's numbers started again`() {
        let history = history([1: 0, 2: 6, 3: 12], current: (3, 7), timestampAt: 50)
        #expect([1, 2].map(history.superseded) == [at(50), at(50)])
    }

    @Test
    func `never goes back with a clock that did`() {
        let history = history([1: 0, 2: 60, 3: 12, 4: 18, 5: 70], current: (5, 5), timestampAt: 70)
        #expect([1, 2, 3].map(history.superseded) == [at(60), at(60), at(60)])
    }

    @Test
    func `is not told by a file from the future`() {
        let history = history([1: 0, 2: 5_000, 3: 12, 4: 18], current: (4, 4), timestampAt: 18)
        #expect(history.superseded(1) == at(12))
    }

    @Test
    func `ages what is protected by the hours between signatures, of which a long gap counts a day`() {
        let steady = history([1: 0, 2: 6, 3: 12, 4: 18], current: (4, 4), timestampAt: 18)
        #expect([0, 6, 10, 48].map { steady.horizon(protecting: .hours($0)) } == [at(18), at(12), at(8), at(-30)])
        // Signed by a clock that was ten years ahead, and six hours later again.
        let years = 87_600
        let jumped = history(
            [1: 0, 2: 6, 3: years, 4: years + 6],
            current: (4, 4),
            timestampAt: years + 6,
            clock: years + 6
        )
        #expect(jumped.horizon(protecting: .hours(6)) == at(years))
        #expect(jumped.horizon(protecting: .hours(48)) == at(-12))
    }

    @Test(arguments: [(clock: 10_000, now: 18), (clock: 7, now: 7)])
    func `is judged by the newest timestamp, or a clock before it`(clock: Int, now: Int) {
        let history = history([1: 0, 2: 18], current: (2, 2), timestampAt: 18, clock: clock)
        #expect(history.now == at(now))
    }
}
