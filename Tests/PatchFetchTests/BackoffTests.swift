import PatchFetch
import Testing

/// M17: the waits between attempts.
@Suite("The wait before a failed request is made again")
struct BackoffTests {
    @Test(arguments: [
        (1, 0.1), (2, 0.1), (3, 4.84), (4, 10.648), (5, 23.4256), (8, 249.43_578_88), (9, 300), (1_000_000, 300),
    ])
    func `grows from a tenth of a second, twice, over powers of 2,2 to five minutes`(
        failures: Int,
        seconds: Double
    ) throws {
        let wait = try #require(Backoff.device.wait(failures: failures, random: 0.5))
        #expect(abs(wait / .seconds(seconds) - 1) < 0.000_001)
    }

    @Test(arguments: [(0.0, 0.75), (0.25, 0.875), (0.5, 1), (0.75, 1.125)])
    func `is spread by a quarter to both sides, from the third failure on`(random: Double, factor: Double) throws {
        #expect(Backoff.device.wait(failures: 1, random: random) == .milliseconds(100))
        #expect(Backoff.device.wait(failures: 2, random: random) == .milliseconds(100))
        let wait = try #require(Backoff.device.wait(failures: 3, random: random))
        #expect(abs(wait / .seconds(4.84) - factor) < 0.000_001)
    }

    @Test func `heeds what a server asks for up to the longest that a device waits`() {
        var backoff = Backoff.device
        backoff.patience = .upTo(.seconds(60))
        #expect(backoff.wait(failures: 1, asked: .seconds(7), random: 0.9) == .seconds(7))
        #expect(backoff.wait(failures: 1, asked: .seconds(61), random: 0.9) == .seconds(60))
        #expect(backoff.wait(failures: 9, asked: .seconds(7), random: 0.5) == .seconds(300))
    }

    @Test func `doubles for a build from half a second up to a minute`() {
        let waits: [Duration?] = (1...9).map { Backoff.build.wait(failures: $0, random: 0.5) }
        let expected: [Duration?] = [
            .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32),
            .seconds(60), .seconds(60),
        ]
        #expect(waits == expected)
        #expect(Backoff.build.wait(failures: 1_000, random: 0.5) == .seconds(60))
    }

    @Test func `is spread for a build by a quarter to both sides`() {
        #expect(Backoff.build.wait(failures: 2, random: 0) == .milliseconds(750))
        #expect(Backoff.build.wait(failures: 2, random: 0.999_999_9) == .milliseconds(1_250))
    }

    @Test func `is for a build never shorter than what the server asks for`() {
        #expect(Backoff.build.wait(failures: 1, asked: .seconds(30), random: 0) == .seconds(30))
        #expect(Backoff.build.wait(failures: 1, asked: .seconds(30), random: 0.5) == .milliseconds(33_750))
        #expect(Backoff.build.wait(failures: 8, asked: .seconds(1), random: 0.5) == .seconds(60))
    }

    @Test func `is none for a build where the server asks for more than five minutes`() {
        #expect(Backoff.build.wait(failures: 1, asked: .seconds(300), random: 0) != nil)
        #expect(Backoff.build.wait(failures: 1, asked: .seconds(301), random: 0) == nil)
    }
}
