import PatchChoice
import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// A device tells what keeps it from new versions without asking anybody.
@Suite("What is held back, by the status")
struct StandingTests {
    private func row(rollout: Int = 10_000, paused: Bool = false, headcount: Int? = nil) -> Dial.Row {
        Dial.Row(
            patchID: name("fix"),
            sha256: SHA256Digest(of: Array("two;".utf8)),
            rollout: rollout,
            paused: paused,
            reason: paused ? "errors" : nil,
            headcount: headcount
        )
    }

    /// A device with fix 1, which was offered fix 2.
    private func world(_ row: Dial.Row?, rules: PatchRules = .everyone) async throws -> World {
        let world = try await World.running([.script("fix", "1", "one;")])
        world.repository.publish([.script("fix", "2", "two;", rules: rules), .script("fix", "1", "one;")])
        if let row { world.repository.setDial([row]) }
        return world
    }

    private func words(_ world: World) throws -> [String] {
        try world.device.device.status().decisions.flatMap { decision in
            decision.passedOver.map { "\(decision.patchID) \($0.version): \($0.why)" }
        }
    }

    @Test func `is what the sync said: paused, a share, a place, a condition`() async throws {
        let conditional = PatchRules(rollout: 10_000, condition: "region==elsewhere")
        let cases: [(Dial.Row?, PatchRules, String)] = [
            (row(paused: true), .everyone, "fix 2: paused: errors"),
            (row(rollout: 0), .everyone, "fix 2: rolled out to 0 of 10,000"),
            (row(headcount: 3), .everyone, "fix 2: waits for a place: open to 3 devices"),
            (nil, conditional, "fix 2: for devices with region==elsewhere; this one is not"),
        ]
        for (row, rules, expected) in cases {
            let world = try await world(row, rules: rules)
            let report = try await world.device.sync()
            _ = world.repository.takeRequests()
            #expect(try words(world) == World.words(report), "\(expected)")
            #expect(try words(world).first?.hasPrefix(expected) == true, "\(expected)")
            #expect(world.repository.takeRequests().isEmpty)
        }
    }

    @Test func `is nothing before the first sync, and nothing where all was taken`() async throws {
        let fresh = try World()
        #expect(try fresh.device.device.status().decisions.isEmpty)
        let world = try await world(nil)
        try await world.device.sync()
        #expect(try words(world) == [])
    }

    @Test func `goes by what the device was told since`() async throws {
        var world = try await world(nil, rules: PatchRules(rollout: 10_000, condition: "region==eu"))
        try await world.device.sync()
        #expect(try words(world).count == 1)
        let (key, value) = (try #require(ConditionKey("region")), try #require(ConditionValue("eu")))
        try await world.setFacts { $0.data = [key: .set(value)] }
        #expect(try words(world) == [])
    }

    @Test func `is told of no list that does not hold together any more`() async throws {
        let world = try await world(row(paused: true))
        try await world.device.sync()
        try world.disk.replace(
            "patchlist.json",
            in: world.device.store.stateFile(SimulatedRepository.production).removingLastComponent(),
            with: Array("{}".utf8)
        )
        #expect(try words(world) == [])
    }

    /// A device that runs fix 1, on which fix 2 failed its trial once.
    private func afterAFailedTrial() async throws -> World {
        let world = try await world(nil)
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else {
            Issue.record("no trial")
            return world
        }
        _ = try await world.device.device.timerEnded(token)
        return world
    }

    private func retries(_ world: World) throws -> [StatusReport.Retry] {
        try Array(world.device.device.status().retries.values)
    }

    @Test func `is a version that failed: it waits, is free again, and is on trial`() async throws {
        let world = try await afterAFailedTrial()
        #expect(try retries(world) == [.waits])
        world.clock.advance(by: .hours(2))
        #expect(try retries(world) == [.free])
        try await world.device.sync()
        _ = try await world.device.device.launch()
        #expect(try retries(world) == [.onTrial])
    }

    @Test func `is no version that is not listed any more`() async throws {
        let world = try await afterAFailedTrial()
        world.repository.publish([.script("fix", "1", "one;")])
        try await world.device.sync()
        #expect(try retries(world) == [.notListed])
        let forgotten = try await world.device.device.forgetFailures()
        #expect(forgotten.labels.isEmpty && forgotten.unlisted == [Label(patchID: name("fix"), version: name("2"))])
    }

    @Test func `is told of a roll back by hand as that, by the sync too`() async throws {
        let world = try await world(nil)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = try await world.device.device.rollBack()
        let until = world.clock.now().adding(.days(14))
        let report = try await world.device.sync()
        let expected = "fix 2: rolled back here by hand; blocked until \(until), or until `patchsync unblock`"
        #expect(World.words(report) == [expected])
        #expect(try words(world) == [expected] && retries(world) == [.blocked])
        _ = try await world.device.device.forgetFailures()
        #expect(try await world.device.sync().staging == .staged)
    }
}
