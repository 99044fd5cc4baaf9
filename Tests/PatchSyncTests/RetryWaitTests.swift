import PatchSync
import Testing

/// M17: the waits between attempts.
@Suite("The wait before a failed request is made again")
struct RetryWaitTests {
    @Test(arguments: [
        (1, 0.1), (2, 0.1), (3, 4.84), (4, 10.648), (5, 23.4256), (8, 249.43_578_88), (9, 300), (1_000_000, 300),
    ])
    func `grows from a tenth of a second, twice, over powers of 2,2 to five minutes`(failures: Int, seconds: Double) {
        let wait = RetryWait(failures: failures, random: 0.5).duration
        #expect(abs(wait / .seconds(seconds) - 1) < 0.000_001)
    }

    @Test(arguments: [(0.0, 0.75), (0.25, 0.875), (0.5, 1), (0.75, 1.125)])
    func `is spread by a quarter to both sides, from the third failure on`(random: Double, factor: Double) {
        #expect(RetryWait(failures: 1, random: random).duration == .milliseconds(100))
        #expect(RetryWait(failures: 2, random: random).duration == .milliseconds(100))
        let wait = RetryWait(failures: 3, random: random).duration
        #expect(abs(wait / .seconds(4.84) - factor) < 0.000_001)
    }
}
