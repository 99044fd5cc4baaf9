import PatchFormat
import PatchServer
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ServerRecords
import ServerTesting
import Testing

@testable import ReleaseService

/// Schedules and defaults over a real tree and real records.
@Suite("Rollouts that a server remembers")
struct RolloutsTests {
    private let app = ReleaseFactory.app
    private let production = ReleaseFactory.production
    private let web: PatchID = named("web")
    private let fix: PatchID = named("fix-cart-total")

    private func ramp(_ steps: [Int] = [100, 500, 10_000]) throws -> StartingRollout? {
        StartingRollout(all: .ramp(try #require(RolloutRamp(steps: steps, every: 21_600))))
    }

    /// fix-cart-total 1 and web 1.0.0, with a schedule for both.
    private func begun() async throws -> TestingOperations {
        let fixture = try TestingOperations()
        _ = try await OfferRelease(
            try fixture.release(),
            notes: ReleaseNotes(),
            starting: try ramp(),
            by: fixture.actor,
            fixture.operations
        ).run()
        return fixture
    }

    private func advance(_ fixture: TestingOperations) async throws -> [String] {
        try await Rollouts(fixture.operations).advance().results.map { result in
            switch result {
            case .stepped(let schedule): "\(schedule.label) at \(RolloutShare(schedule.share))"
            case .stopped(let schedule): "\(schedule.label) stopped: \(schedule.json.text("cause"))"
            case .planned(let schedule): "\(schedule.label) planned: \(schedule.json.text("next"))"
            case .failed(_, let channel, let error): "\(channel): \(error)"
            }
        }
    }

    private func shares(_ fixture: TestingOperations) throws -> [String] {
        try fixture.server.repository.dial(of: production).versions.map {
            "\($0.patchID) \($0.version): \($0.isPaused ? "paused" : "\(RolloutShare($0.effective))")"
        }
    }

    private func turn(_ fixture: TestingOperations, _ action: DialChange.Action, _ id: PatchID) async throws {
        _ = try await ChangeDial(
            [DialChange(action, of: id)],
            in: production,
            of: app,
            expecting: nil,
            by: fixture.actor,
            fixture.operations
        ).run()
    }

    private func schedules(_ fixture: TestingOperations) async throws -> [RolloutSchedule] {
        try await Rollouts(fixture.operations).schedules(of: production, in: app)
    }

    @Test func `take a step for each version when it is due, turn the dial and write both down`() async throws {
        let fixture = try await begun()
        #expect(try shares(fixture) == ["fix-cart-total 1: 1%", "web 1.0.0: 1%"])
        let early = try await Rollouts(fixture.after(.hours(5)).operations).advance()
        #expect(early.results.isEmpty && early.next == TestingServer.start.adding(.hours(6)))
        // Two days late.
        let late = try fixture.after(.days(2))
        #expect(try await advance(late) == ["fix-cart-total 1 at 5%", "web 1.0.0 at 5%"])
        #expect(try await advance(late) == [])
        #expect(try shares(fixture) == ["fix-cart-total 1: 5%", "web 1.0.0: 5%"])
        #expect(
            try await advance(fixture.after(.days(2) + .hours(6))) == ["fix-cart-total 1 at 100%", "web 1.0.0 at 100%"]
        )
        #expect(try shares(fixture) == ["fix-cart-total 1: 100%", "web 1.0.0: 100%"])
        #expect(try await advance(fixture.after(.days(9))) == [])
        #expect(try await fixture.actions() == ["release.publish", "dial.turn", "dial.turn"])
        #expect(try await fixture.intents() == 0)
        let actor = try await fixture.records.auditEntries(after: 2).first?.json["actor"]?.text("kind")
        #expect(actor == "server")
        #expect(try await fixture.history().first?.started.count == 2)
    }

    @Test func `end with a share or a pause by hand, and leave the others`() async throws {
        let fixture = try await begun()
        // The same share: it is kept from rising.
        try await turn(fixture, .rollout(100), web)
        #expect(try await schedules(fixture).map(\.isRunning) == [true, false])
        try await turn(fixture, .pause, fix)
        #expect(try await advance(fixture.after(.days(1))) == [])
        #expect(try shares(fixture) == ["fix-cart-total 1: paused", "web 1.0.0: 1%"])
        let causes = try await schedules(fixture).map { $0.json.text("cause") }
        #expect(causes == ["paused", "turned"])
        try await turn(fixture, .resume, fix)
        #expect(try await advance(fixture.after(.days(2))) == [], "what ended does not go on")
    }

    @Test func `begin anew for a version that is paused, and end what ran`() async throws {
        let fixture = try await begun()
        try await turn(fixture, .pause, web)
        let ramp = try #require(RolloutRamp(steps: [1_000, 10_000], every: 3_600))
        try await turn(fixture, .ramp(ramp), web)
        #expect(try shares(fixture) == ["fix-cart-total 1: 1%", "web 1.0.0: 10%"])
        #expect(try await advance(fixture.after(.hours(1))) == ["web 1.0.0 at 100%"])
    }

    @Test func `end with a version that is listed no more, and its record is gone`() async throws {
        let fixture = try await begun()
        _ = try await OfferRelease(
            try fixture.release("cart.total = 2;", version: "2"),
            notes: ReleaseNotes(),
            by: fixture.actor,
            fixture.operations
        ).run()
        #expect(try await advance(fixture.after(.hours(1))) == ["fix-cart-total 1 stopped: withdrawn"])
        #expect(try await schedules(fixture).map(\.label.patchID) == [web])
        #expect(try await fixture.actions().last == "rollout.stop")
    }

    @Test func `do not step while the clock is behind the newest signature`() async throws {
        let fixture = try await begun()
        let behind = try fixture.after(.hours(-100))
        let early = TestingServer.start.adding(.hours(-94))
        #expect(
            try await advance(behind) == ["fix-cart-total 1 planned: \(early)", "web 1.0.0 planned: \(early)"]
        )
        #expect(try await advance(behind) == [])
        #expect(try shares(fixture) == ["fix-cart-total 1: 1%", "web 1.0.0: 1%"])
        // The clock is right again: the step is not early.
        let due = TestingServer.start.adding(.hours(6))
        let right = try fixture.after(.hours(1))
        #expect(try await advance(right) == ["fix-cart-total 1 planned: \(due)", "web 1.0.0 planned: \(due)"])
        #expect(try await advance(right) == [])
        #expect(try await fixture.actions().last == "rollout.plan")
        #expect(try await advance(fixture.after(.hours(6))) == ["fix-cart-total 1 at 5%", "web 1.0.0 at 5%"])
    }

    @Test(arguments: 1...3) func `are in step with the dial wherever the process dies`(_ commit: Int) async throws {
        let fixture = try await begun()
        let dying = try fixture.after(.hours(6), failingAtCommit: commit)
        _ = try? await advance(dying)
        let next = try fixture.after(.hours(6))
        _ = try await SettleIntents(next.operations).run()
        _ = try await advance(next)
        #expect(try shares(fixture) == ["fix-cart-total 1: 5%", "web 1.0.0: 5%"])
        #expect(try await schedules(fixture).map(\.share) == [500, 500])
        #expect(try await schedules(fixture).allSatisfy(\.isRunning))
        #expect(try await fixture.intents() == 0)
    }

    @Test(arguments: 1...3) func `begin with a release that was published by a process that died`(_ commit: Int)
        async throws
    {
        let fixture = try TestingOperations()
        let dying = try fixture.again(failingAtCommit: commit)
        _ = try? await OfferRelease(
            try fixture.release(),
            notes: ReleaseNotes(),
            starting: try ramp(),
            by: fixture.actor,
            dying.operations
        ).run()
        _ = try await SettleIntents(fixture.again().operations).run()
        let isPublished = try PublishedState(of: fixture.server.repository).version(of: production) == 1
        #expect(try await schedules(fixture).count == (isPublished ? 2 : 0))
        #expect(isPublished == (commit > 1))
    }

    @Test func `have a default for each channel, which is written down and can be removed`() async throws {
        let fixture = try TestingOperations()
        let rollouts = Rollouts(fixture.operations)
        #expect(try await rollouts.usual(of: production, in: app) == nil)
        for share in [1_000, 1_000, 2_500, nil, nil] as [Int?] {
            try await rollouts.setUsual(share, of: production, in: app, by: fixture.actor)
            #expect(try await rollouts.usual(of: production, in: app) == share)
        }
        #expect(try await fixture.actions() == Array(repeating: "rollout.default", count: 3))
        let unknown = ServerError.noChannel(app, named("prod"), known: [ReleaseFactory.beta, production])
        await #expect(throws: OperationError.server(unknown)) {
            try await rollouts.setUsual(1, of: named("prod"), in: app, by: fixture.actor)
        }
    }

    @Test func `give a new version the channel's default, and a draft's own share to who completes it`() async throws {
        let fixture = try TestingOperations(threshold: 2)
        try await Rollouts(fixture.operations).setUsual(1_000, of: production, in: app, by: fixture.actor)
        _ = try await OfferRelease(
            try fixture.release(),
            notes: ReleaseNotes(),
            starting: StartingRollout(all: nil, patches: [web: .paused(at: 500)]),
            by: fixture.actor,
            fixture.operations
        ).run()
        let done = try await OfferRelease(
            try fixture.release(signedBy: [.second]),
            notes: ReleaseNotes(),
            by: fixture.actor,
            fixture.operations
        ).run()
        guard case .published = done else {
            Issue.record("was not published")
            return
        }
        #expect(try shares(fixture) == ["fix-cart-total 1: 10%", "web 1.0.0: paused"])
    }
}

extension JSON {
    fileprivate func text(_ key: String) -> String {
        guard case .string(let text) = self[key] else { return "-" }
        return text.text
    }
}
