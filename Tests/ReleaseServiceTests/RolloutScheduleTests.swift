import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import ServerRecords
import ServerTesting
import Testing

@testable import PatchServer
@testable import ReleaseService

@Suite("A schedule of a rollout")
struct RolloutScheduleTests {
    private static let digest = SHA256Digest(of: [1])
    private static let start = TestingServer.start
    private static let label = Label(patchID: named("web"), version: named("2.1.0"))

    private static func schedule(_ steps: [Int] = [100, 500, 10_000]) throws -> RolloutSchedule {
        let ramp = try #require(RolloutRamp(steps: steps, every: 21_600))
        let schedule = RolloutSchedule(
            ramp,
            of: label,
            digest,
            in: ReleaseFactory.production,
            of: ReleaseFactory.app,
            by: .local(user: "ops"),
            at: start
        )
        return try #require(schedule)
    }

    private static func version(_ share: Int, paused: Bool = false, ceiling: Int = 10_000) -> DialState.Version {
        DialState.Version(
            patchID: label.patchID,
            version: label.version,
            kind: .bundle,
            sha256: digest,
            ceiling: ceiling,
            row: Dial.Row(patchID: label.patchID, sha256: digest, rollout: share, paused: paused, reason: nil)
        )
    }

    @Test func `takes its next step when it is due, and not before`() throws {
        let schedule = try Self.schedule()
        #expect((schedule.share, schedule.nextShare) == (100, 500))
        let due = Self.start.adding(.hours(6))
        #expect(schedule.state == .running(next: due))
        #expect(schedule.decision(Self.version(100), at: UTCTime(seconds: due.seconds - 1)) == .wait)
        #expect(schedule.decision(Self.version(100), at: due) == .step(500))
    }

    @Test func `takes one step however late it is, and the next one an interval later`() throws {
        let late = Self.start.adding(.days(3))
        let schedule = try Self.schedule()
        #expect(schedule.decision(Self.version(100), at: late) == .step(500))
        let stepped = schedule.stepped(at: late)
        #expect(stepped.state == .running(next: late.adding(.hours(6))) && stepped.share == 500)
        #expect(stepped.decision(Self.version(500), at: late) == .wait)
        let last = stepped.stepped(at: late.adding(.hours(6)))
        #expect(last.state == .finished(at: late.adding(.hours(6))) && last.nextShare == nil)
        #expect(last.decision(Self.version(10_000), at: late.adding(.days(9))) == .wait)
        #expect(last.stepped(at: late.adding(.days(9))) == last)
    }

    /// The last step was taken at `start`.
    @Test(arguments: [
        // The time now in hours after that step, the planned time, and the time that it is due.
        (0, 6, 6), (5, 6, 6), (6, 6, 6), (100, 6, 6),
        // The clock was behind, and is right again.
        (1, -94, 6), (6, -94, 6),
        // The clock was ahead when the step was taken, or is behind now.
        (-1, 6, 5), (-1, 4, 4), (-100, 6, -94), (-100, -97, -97), (-87_600, 6, -87_594),
    ])
    func `is due an interval after its last step, and at most one interval from now`(now: Int, next: Int, due: Int)
        throws
    {
        func hour(_ hours: Int) -> UTCTime { Self.start.adding(.hours(hours)) }
        let made = try Self.schedule()
        let record = Record(key: made.key, revision: 1, value: made.json.adding([("next", .text("\(hour(next))"))]))
        let schedule = try RolloutSchedule(record)
        #expect(schedule.planned(at: hour(now)) == hour(due))
        #expect(schedule.replanned(at: hour(now)).state == .running(next: hour(due)))
        let decision: RolloutSchedule.Decision = now >= due ? .step(500) : next == due ? .wait : .plan
        #expect(schedule.decision(Self.version(100), at: hour(now)) == decision)
    }

    @Test func `takes its steps an interval apart after a clock that was ahead was set`() throws {
        let ahead = Self.start.adding(.days(400))
        var schedule = try Self.schedule().stepped(at: ahead)
        #expect(schedule.decision(Self.version(500), at: Self.start) == .plan)
        schedule = schedule.replanned(at: Self.start)
        let due = Self.start.adding(.hours(6))
        #expect(schedule.state == .running(next: due))
        #expect(schedule.decision(Self.version(500), at: UTCTime(seconds: due.seconds - 1)) == .wait)
        #expect(schedule.decision(Self.version(500), at: due) == .step(10_000))
        #expect(schedule.stepped(at: due).state == .finished(at: due))
    }

    @Test func `is not planned again for a clock that was adjusted by seconds`() throws {
        let schedule = try Self.schedule()
        #expect(schedule.decision(Self.version(100), at: UTCTime(seconds: Self.start.seconds - 60)) == .wait)
        #expect(schedule.decision(Self.version(100), at: UTCTime(seconds: Self.start.seconds - 61)) == .plan)
    }

    @Test func `has no plan after its end`() throws {
        let stopped = try Self.schedule().stopped(.turned, at: Self.start)
        #expect(stopped.planned(at: Self.start) == nil && stopped.replanned(at: Self.start) == stopped)
    }

    @Test func `stops for a version that was paused, turned by hand or withdrawn, and below its next share`() throws {
        let schedule = try Self.schedule()
        for time in [Self.start, Self.start.adding(.hours(6))] {
            #expect(schedule.decision(nil, at: time) == .stop(.withdrawn))
            #expect(schedule.decision(Self.version(100, paused: true), at: time) == .stop(.paused))
            #expect(schedule.decision(Self.version(99), at: time) == .stop(.turned))
            #expect(schedule.decision(Self.version(10_000), at: time) == .stop(.turned))
            #expect(schedule.decision(Self.version(100, ceiling: 499), at: time) == .stop(.ceiling))
        }
    }

    @Test func `knows a step that was taken by a process that ended before it wrote it down`() throws {
        #expect(try Self.schedule().decision(Self.version(500), at: Self.start) == .stepped)
    }

    @Test func `stays as it ended`() throws {
        let stopped = try Self.schedule().stopped(.health, reason: "7 of 40 devices rolled back", at: Self.start)
        #expect(stopped.decision(Self.version(100), at: Self.start.adding(.days(9))) == .wait)
        #expect(stopped.stopped(.turned, at: Self.start) == stopped && stopped.stepped(at: Self.start) == stopped)
    }

    @Test func `that a pause ended names the share that was set by hand afterwards`() throws {
        let paused = try Self.schedule().stopped(.paused, at: Self.start)
        let later = Self.start.adding(.hours(1))
        #expect(paused.stopped(.turned, at: later) == (try Self.schedule().stopped(.turned, at: later)))
        #expect(paused.stopped(.health, at: later) == paused && paused.stopped(.paused, at: later) == paused)
    }

    @Test func `is read as it was written, in every state, and says where it stands`() throws {
        let schedule = try Self.schedule()
        let time = Self.start
        let states = [
            (schedule, "1% of devices, 5% at \(time.adding(.hours(6)))"),
            (schedule.stepped(at: time).stepped(at: time), "the schedule ended at 100%, \(time)"),
            (schedule.stopped(.turned, at: time), "the schedule stopped at 1%, \(time): its share was set by hand"),
            (schedule.stopped(.paused, at: time), "the schedule stopped at 1%, \(time): it was paused"),
            (schedule.stopped(.withdrawn, at: time), "the schedule stopped at 1%, \(time): it is no longer listed"),
            (
                schedule.stopped(.ceiling, at: time),
                "the schedule stopped at 1%, \(time): the release keys signed a smaller share than the next step"
            ),
            (
                schedule.stopped(.health, reason: "7 of 40", at: time),
                "the schedule stopped at 1%, \(time): it failed on devices (7 of 40)"
            ),
        ]
        for (schedule, words) in states {
            let record = Record(key: schedule.key, revision: 1, value: schedule.json)
            #expect(try RolloutSchedule(record) == schedule && schedule.words == words)
        }
    }

    @Test(arguments: [("state", "asleep"), ("taken", "[]"), ("cause", "weather")])
    func `is not read with a state that no program writes`(_ member: String, _ text: String) throws {
        let stopped = try Self.schedule().stopped(.turned, at: Self.start)
        let value: JSON = text == "[]" ? .array([]) : .text(text)
        let record = Record(key: stopped.key, revision: 1, value: stopped.json.adding([(member, value)]))
        let error = #expect(throws: RecordError.self) { try RolloutSchedule(record) }
        let isOfState = "\(String(describing: error))".contains("must be running, finished or stopped")
        #expect(isOfState == (member == "state"))
    }

    @Test func `is not made of a single share`() throws {
        let ramp = try #require(RolloutRamp(steps: [100], every: 60))
        let schedule = RolloutSchedule(
            ramp,
            of: Self.label,
            Self.digest,
            in: ReleaseFactory.production,
            of: ReleaseFactory.app,
            by: .server,
            at: Self.start
        )
        #expect(schedule == nil)
    }

    @Test func `is looked at in a minute at most, and in a second at least`() {
        typealias Timer = RolloutTimer<ContinuousClock>
        let now = Self.start
        #expect(Timer.pause(until: nil, at: now) == .minutes(1))
        #expect(Timer.pause(until: now.adding(.hours(1)), at: now) == .minutes(1))
        #expect(Timer.pause(until: now.adding(.seconds(20)), at: now) == .seconds(20))
        #expect(Timer.pause(until: UTCTime(seconds: 0), at: now) == .seconds(1))
    }
}
