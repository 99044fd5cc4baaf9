import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// A version that a list withdraws by name is final: nothing goes back to it, and it stays for nothing.
@Suite("A version that is withdrawn by name")
struct WithdrawnVersionTests {
    private let now = ManualClock.start
    private let a = selection(["fix 1", "web 1"], number: 1)
    private let b = selection(["fix 1", "web 2"], number: 2)
    private let c = selection(["fix 1", "web 3"], number: 3)
    private let web2 = [installed("web 2").patchID: Set([installed("web 2").fingerprint.sha256])]

    private func token(_ number: UInt8) -> LaunchToken { SimulatedDevice.token(number) }

    // MARK: The machine

    @Test func `stays until the launch, and makes room there for what was confirmed before, with no new trial`() {
        var machine = SelectionMachine(state: .settled(b), previous: a)
        machine.withdraw(web2)
        #expect(machine.state == .settled(b))
        #expect(machine.withdrawn == [installed("web 2").content])
        #expect(machine.stage(selection(["fix 1", "web 1"], number: 9)) == .staged)
        #expect(machine.awaitedTrial == nil)
        guard case .run(let rest, removed: []) = machine.launch(token: token(1), at: now) else {
            Issue.record("what proved itself needs no trial")
            return
        }
        #expect(rest.contents == a.contents)
        #expect(machine.state.running?.contents == a.contents && machine.withdrawn == [] && machine.previous == nil)
    }

    @Test func `is nothing that a failed trial goes back to`() {
        for isOnTrial in [true, false] {
            var machine = SelectionMachine(state: .settled(b), previous: a)
            if !isOnTrial { machine.withdraw(web2) }
            _ = machine.stage(c)
            _ = machine.launch(token: token(1), at: now)
            if isOnTrial { machine.withdraw(web2) }
            guard case .rolledBack(let to, from: c)? = machine.timerEnded(token(1), at: now) else {
                Issue.record("the trial should end")
                return
            }
            #expect(to?.contents == a.contents)
            #expect(machine.kept.allSatisfy { $0[name("web")]?.version != name("2") })
        }
    }

    @Test func `is nothing that a person rolls back to, and what the app ships loses it`() {
        var machine = SelectionMachine(state: .settled(c), previous: b, embedded: b)
        machine.withdraw(web2)
        #expect(machine.previous?.labels == "fix 1" && machine.embedded?.labels == "fix 1")
        #expect(machine.withdrawn == [], "nothing that runs is concerned")
        #expect(machine.rollBack(at: now) != nil)
        #expect(machine.state.running?.labels == "fix 1")
    }

    @Test func `leaves a trial with nothing behind it unproven, rather than take it away`() {
        let only = selection(["web 2"])
        var machine = SelectionMachine(state: .settled(only))
        machine.withdraw(web2)
        _ = machine.stage(selection(["web 3"], number: 2))
        _ = machine.launch(token: token(1), at: now)
        #expect(machine.isUnproven)
        #expect(machine.timerEnded(token(1), at: now) == .unproven(selection(["web 3"], number: 2)))
    }

    @Test func `makes room for what the app ships where nothing was confirmed before`() {
        var machine = SelectionMachine(state: .settled(b), embedded: a)
        machine.withdraw(web2)
        #expect(machine.withoutWithdrawn(b)?.contents == a.contents)
    }

    @Test func `does not run either while what follows it is damaged`() {
        var machine = SelectionMachine(state: .settled(b), previous: a)
        machine.withdraw(web2)
        _ = machine.stage(c)
        #expect(machine.unsavedLaunch == .run(a.numbered(2), removed: []))
        guard case .run(let rest, removed: []) = machine.launch(token: token(1), at: now, isPendingDamaged: true) else {
            Issue.record("something else runs")
            return
        }
        #expect(rest.contents == a.contents)
    }

    @Test func `makes room for what stands behind its trial, where that does not count yet`() {
        let launch = SelectionState.TrialLaunch(token: token(1), launches: 0, isCounted: false)
        var machine = SelectionMachine(state: .trying(good: a, trial: b, launch: launch))
        machine.withdraw(web2)
        #expect(machine.withoutWithdrawn(b)?.contents == a.contents)
        #expect(machine.stage(selection(["fix 1", "web 1"], number: 9)) == .unstaged)
        #expect(machine.state == .settled(a))
    }

    /// Its parts never ran together.
    @Test func `leaves a selection of several ones to prove itself, over one that did as a whole`() {
        let present = selection(["fix 2", "web 2"], number: 2)
        var machine = SelectionMachine(state: .settled(present), previous: a)
        machine.withdraw(web2)
        let next = selection(["fix 2", "web 1"], number: 3)
        #expect(machine.stage(next) == .staged)
        #expect(machine.awaitedTrial == next)
        #expect(machine.launch(token: token(1), at: now) == .tryOut(next, token(1)))
        #expect(machine.timerEnded(token(1), at: now) == .rolledBack(to: a, from: next))
    }

    @Test func `leaves what a person rolls back to whole`() {
        let shipped = selection(["fix 1", "web 0"], number: 1)
        var machine = SelectionMachine(state: .settled(c), previous: b, embedded: shipped)
        machine.withdraw(web2)
        #expect(machine.previous?.contents == shipped.contents)
        var longer = SelectionMachine(state: .settled(c), earlier: [b, a], embedded: shipped)
        longer.withdraw(web2)
        #expect(longer.earlier.map(\.contents) == [a.contents])
    }

    @Test func `comes back by no new build, no lost state and no other channel`() throws {
        func waiting() -> SelectionMachine {
            var machine = SelectionMachine(state: .settled(b), previous: a)
            machine.withdraw(web2)
            _ = machine.stage(c)
            return machine
        }
        var machine = waiting()
        machine.forgetPending()
        #expect(machine.state.running == b, "until the launch")
        guard case .run(let rest, removed: []) = machine.launch(token: token(1), at: now) else {
            Issue.record("what proved itself needs no trial")
            return
        }
        #expect(rest.contents == a.contents)
        machine = waiting()
        machine.settleOnGood()
        #expect(machine.state.running?.contents == a.contents)
        machine = waiting()
        let isRecovered = machine.recoverSelection()
        #expect(isRecovered)
        #expect(machine.state.running?.contents == a.contents)
        var state = DeviceState()
        state.machine = waiting()
        let other = try state.beginning(in: name("beta"), from: name("production"))
        #expect(other.machine.state.running?.contents == a.contents)
    }

    @Test func `is remembered on the disk`() throws {
        var state = DeviceState()
        state.machine = SelectionMachine(state: .settled(b), previous: a)
        state.machine.withdraw(web2)
        #expect(try state.reread() == state)
    }

    // MARK: A device

    /// Version 1 was confirmed before 2, and 3 is listed and failed its trials here.
    private func worldWhereTheSuccessorFailed(over first: [SimulatedPatch] = [SampleApp.web1]) async throws -> World {
        let world = try World(first)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([SampleApp.web2])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([Self.web3])
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else {
            Issue.record("3 is to be tried")
            return world
        }
        _ = try await world.device.device.timerEnded(token)
        #expect(try world.machine.state.running?.labels == "web 2.0.0")
        return world
    }

    private static let web3 = SimulatedPatch.bundle("web", "3.0.0", ["index.html": "<p>three</p>"])

    @Test func `makes room for what was confirmed before it on a device on which its successor is blocked`()
        async throws
    {
        let world = try await worldWhereTheSuccessorFailed()
        try await world.device.sync()
        #expect(try world.machine.state.running?.labels == "web 2.0.0", "what is merely not listed stays")
        _ = world.repository.takeRequests()
        world.repository.withdraw(SampleApp.web2, listing: [Self.web3])
        let report = try await world.device.sync()
        #expect(
            report.decisions.map(\.choice) == [
                .withdraw(
                    try #require(try world.machine.state.running?[name("web")]),
                    for: try #require(try world.machine.previous?[name("web")])
                )
            ]
        )
        #expect(!world.repository.takeRequests().contains { $0.hasPrefix("objects/") }, "all of it lies here")
        #expect(try world.machine.state.running?.labels == "web 2.0.0", "until the launch")
        guard case .run(let rest, removed: []) = try await world.device.device.launch() else {
            Issue.record("what proved itself needs no trial")
            return
        }
        #expect(rest.labels == "web 1.0.0")
        try world.expectWhole("web 1.0.0")
        await #expect(throws: SyncError.nothingToRollBackTo) { try await world.device.device.rollBack() }
        #expect(try await world.device.sync().staging == .unchanged, "it stays so")
    }

    @Test func `is gone where nothing was confirmed before it and the app ships nothing`() async throws {
        let world = try await worldWhereTheSuccessorFailed(over: [])
        world.repository.withdraw(SampleApp.web2, listing: [Self.web3])
        try await world.device.sync()
        guard case .run(let rest, removed: [name("web")]) = try await world.device.device.launch() else {
            Issue.record("a withdrawal needs no trial")
            return
        }
        #expect(rest.patches == [])
        #expect(try world.machine.state == .empty)
    }

    @Test func `is kept by no pause of its successor`() async throws {
        let world = try await World.running([SampleApp.web1])
        world.repository.publish([SampleApp.web2])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let three = Self.web3.with { $0.rules = PatchRules(rollout: 0) }
        world.repository.withdraw(SampleApp.web2, listing: [three])
        try await world.device.sync()
        _ = try await world.device.device.launch()
        #expect(try world.machine.state.running?.labels == "web 1.0.0")
    }

    @Test func `takes what requires it back along, to the pair that was confirmed`() async throws {
        func pair(_ version: String) -> [SimulatedPatch] {
            let lib = SimulatedPatch.script("lib", version, "lib \(version)")
            let digest = SHA256Digest(of: Array("lib \(version)".utf8))
            return [
                SimulatedPatch.script("app", version, "app \(version)").with { $0.requires = [lib.id: [digest]] }, lib,
            ]
        }
        let world = try await World.running(pair("1"))
        world.repository.publish(pair("2"))
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let closed = SimulatedPatch.script("lib", "3", "lib 3", rules: PatchRules(rollout: 0))
        world.repository.withdraw(pair("2")[1], listing: [pair("2")[0], closed])
        try await world.device.sync()
        guard case .run(let rest, removed: []) = try await world.device.device.launch() else {
            Issue.record("the pair proved itself")
            return
        }
        #expect(rest.labels == "app 1, lib 1")
    }

    @Test func `makes room for a listed one below it without a trial, where that was confirmed before`() async throws {
        let world = try await World.running([SampleApp.web1])
        world.repository.publish([SampleApp.web2, SampleApp.web1])
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.withdraw(SampleApp.web2, listing: [SampleApp.web1])
        try await world.device.sync()
        guard case .run(let rest, removed: []) = try await world.device.device.launch() else {
            Issue.record("what proved itself needs no trial")
            return
        }
        #expect(rest.labels == "web 1.0.0")
    }
}

extension Selection {
    fileprivate func numbered(_ number: Int) -> Selection {
        Selection(number: number, roleVersion: number, patches: patches, entryKeys: entryKeys)
    }
}
