import HTTPCore
import PatchFetch
import PatchSync
import Testing

@testable import PatchDaemon

@Suite("When the daemon looks next")
struct ScheduleTests {
    private let quarter = Schedule(every: .seconds(900))

    /// The middle of the dice: no jitter.
    private let middle = 0.5

    @Test(
        arguments: [
            (nil, true, NextContact(seconds: 0, reason: .first)), (0, false, NextContact(seconds: 0, reason: .first)),
            (0, true, NextContact(seconds: 900, reason: .interval)),
            (600, true, NextContact(seconds: 300, reason: .interval)),
            (900, true, NextContact(seconds: 0, reason: .interval)),
            (604_800, true, NextContact(seconds: 0, reason: .interval)),
            // A clock that went back.
            (-86_400, true, NextContact(seconds: 900, reason: .interval)),
        ] as [(Int?, Bool, NextContact)]
    )
    func `is at once after a start where nothing is installed or a look is due, else what is left of the interval`(
        age: Int?,
        isInstalled: Bool,
        expected: NextContact
    ) {
        #expect(quarter.first(age: age.map { .seconds($0) }, isInstalled: isInstalled, random: middle) == expected)
    }

    @Test(arguments: [(0.0, 810), (0.5, 900), (0.999_999, 990)])
    func `is a tenth sooner or later, so that devices do not stay together`(random: Double, seconds: Int64) {
        var schedule = quarter
        let next = schedule.next(after: .done, isInstalled: true, random: random)
        #expect(next == NextContact(seconds: seconds, reason: .interval))
    }

    @Test func `backs off from thirty seconds, doubling, and never more seldom than the interval or an hour`() {
        for (interval, expected) in [
            (900, [30, 60, 120, 240, 480, 900, 900]), (86_400, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]),
        ] as [(Int, [Int64])] {
            var schedule = Schedule(every: .seconds(interval))
            let looks = expected.map { _ in
                schedule.next(after: .failed(.init(isNetwork: false)), isInstalled: true, random: middle)
            }
            #expect(looks == expected.map { NextContact(seconds: $0, reason: .backOff) })
            let done = schedule.next(after: .done, isInstalled: true, random: middle)
            #expect(done == NextContact(seconds: Int64(interval), reason: .interval))
            let again = schedule.next(after: .failed(.init(isNetwork: false)), isInstalled: true, random: middle)
            #expect(again?.seconds == 30, "a success forgets the failures")
        }
    }

    @Test(
        arguments: [
            (900, 0, 30), (900, -5, 30), (900, 3_000, 3_000), (900, 3_601, 3_600), (900, 2_147_483_648, 3_600),
            (900, Int.max, 3_600), (86_400, 7_200, 7_200), (86_400, Int.max, 86_400),
        ] as [(Int, Int, Int64)]
    )
    func `leaves a server alone for as long as it asks, up to an hour or the interval`(
        interval: Int,
        asked: Int,
        seconds: Int64
    ) {
        var schedule = Schedule(every: .seconds(interval))
        let failure = Schedule.Failure(isNetwork: false, retryAfter: RetryAfter(asked))
        let look = schedule.next(after: .failed(failure), isInstalled: true, random: middle)
        #expect(look == NextContact(seconds: seconds, reason: .backOff))
        // The dice never carry it beyond what an integer holds.
        _ = schedule.next(after: .failed(failure), isInstalled: true, random: 0.999_999)
    }

    @Test func `is a finite time also for an interval that no setting allows`() {
        var schedule = Schedule(every: .seconds(Int64.max))
        let look = schedule.next(after: .done, isInstalled: true, random: 0.999_999)
        #expect((look?.seconds ?? .max) < 100_000_000)
    }

    @Test func `comes with the network where that was what failed, at most every ten seconds`() {
        var schedule = quarter
        #expect(schedule.networkBecameAvailable(age: .seconds(60)) == nil)
        _ = schedule.next(after: .failed(.init(isNetwork: false)), isInstalled: true, random: middle)
        #expect(
            schedule.networkBecameAvailable(age: .seconds(60)) == nil,
            "a server that refuses is no missing network"
        )
        _ = schedule.next(after: .failed(.init(isNetwork: true)), isInstalled: true, random: middle)
        #expect(schedule.networkBecameAvailable(age: .seconds(60)) == NextContact(seconds: 0, reason: .network))
        #expect(schedule.networkBecameAvailable(age: .milliseconds(2_500)) == NextContact(seconds: 8, reason: .network))
        _ = schedule.next(after: .done, isInstalled: true, random: middle)
        #expect(schedule.networkBecameAvailable(age: .seconds(60)) == nil)
    }

    @Test func `comes with another network where a portal or a proxy may have answered in the server's place`() {
        let portal: [SyncError] = [
            .fetch(.intercepted("x", .redirect(to: "http://portal.test/"))), .fetch(.intercepted("x", .status(511))),
            .fetch(.webPage("x")), .fetch(.tls(.unknownIssuer(host: "a"))), .fetch(.tls(.wrongHostName(host: "a"))),
        ]
        #expect(portal.allSatisfy { Schedule.Failure($0).isNetwork })
        let server: [SyncError] = [
            .fetch(.redirected("x", to: "/y")), .fetch(.notFound("x")), .fetch(.tls(.noAuthority)), .nothingInstalled,
        ]
        #expect(server.allSatisfy { !Schedule.Failure($0).isNetwork })
    }

    @Test func `is a minute later where another process syncs, and never where nobody wants one`() {
        var schedule = quarter
        #expect(
            schedule.next(after: .busy, isInstalled: true, random: middle) == NextContact(seconds: 60, reason: .backOff)
        )
        var asked = Schedule(every: nil)
        #expect(asked.first(age: .seconds(5), isInstalled: true, random: middle) == nil)
        #expect(asked.first(age: nil, isInstalled: false, random: middle) == NextContact(seconds: 0, reason: .first))
        #expect(
            asked.next(after: .done, isInstalled: false, random: middle) == NextContact(seconds: 30, reason: .first)
        )
        #expect(asked.next(after: .done, isInstalled: true, random: middle) == nil)
        #expect(asked.next(after: .failed(.init(isNetwork: true)), isInstalled: true, random: middle) == nil)
    }

    @Test func `of a store that is never asked for is empty`() {
        var never = Schedule(every: .seconds(60), isOn: false)
        #expect(never.first(age: nil, isInstalled: false, random: middle) == nil)
        #expect(never.next(after: .failed(.init(isNetwork: true)), isInstalled: false, random: middle) == nil)
    }

    @Test func `that changes keeps the failures in a row`() {
        var schedule = quarter
        _ = schedule.next(after: .failed(.init(isNetwork: true)), isInstalled: true, random: middle)
        schedule.change(to: .seconds(3_600))
        #expect(
            schedule.next(after: .failed(.init(isNetwork: true)), isInstalled: true, random: middle)
                == NextContact(seconds: 60, reason: .backOff)
        )
        #expect(
            schedule.next(after: .done, isInstalled: true, random: middle)
                == NextContact(seconds: 3_600, reason: .interval)
        )
    }
}
