import DeviceTesting
import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// What happens to machines that nobody did wrong to; the way to the server is tried with real programs (`PipelineTests`), a year
/// off in `YearOffTests`.
@Suite("Faults of a device's daily life")
struct DailyFaultTests {
    private static let first = "banner 1, fix-cart-total 1, web 1.0.0"
    private static let second = "banner 1, fix-cart-total 2, web 2.0.0"

    @Test(arguments: [FaultyFiles.Survival.lose, .keepNames, .keep])
    func `a power cut while confirming leaves a trial or a confirmed version, and never a block`(
        survival: FaultyFiles.Survival
    ) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else {
            Issue.record("nothing is tried out")
            return
        }
        let rehearsal = world.disk.reopened()
        _ = try await world.device.reopened(on: rehearsal).device.confirm(token)
        try #require(rehearsal.changes > 3)
        for change in 1...rehearsal.changes {
            let disk = world.disk.reopened(failingAtChange: change)
            _ = try? await world.device.reopened(on: disk).device.confirm(token)
            let device = try world.device.reopened(on: disk.crashed(survival))
            switch try await device.device.launch() {
            case .run(let selection, _): #expect(selection.labels == Self.second, "change \(change)")
            case .tryOut(let selection, let next):
                #expect(selection.labels == Self.second, "change \(change)")
                _ = try await device.device.confirm(next)
            case .rolledBack, .interrupted, .unproven, .nothing: Issue.record("a trial was lost at change \(change)")
            }
            #expect(try device.device.state().machine.state.running?.labels == Self.second)
            #expect(try device.device.state().machine.blocks == TrialBlocks())
            #expect(try device.device.verifyInstalled(signatures: true).faults == [])
        }
    }

    @Test func `a clock that is set after the start costs a sync, and nothing that runs`() async throws {
        let world = try World(SampleApp.first)
        let now = world.clock.now()
        // As a machine without a battery starts, and until its time comes from the network.
        world.clock.set(to: UTCTime(seconds: 0))
        try await world.device.sync()
        #expect(try await world.device.launchAndConfirm()?.labels == Self.first)
        world.clock.set(to: now)
        #expect(try await world.device.sync().staging == .unchanged)
        // The other way round: roles that were signed meanwhile are not due yet, and still no reason to run nothing.
        world.clock.advance(by: .days(3_650))
        await #expect {
            try await world.device.sync()
        } throws: { error in
            guard case SyncError.trust(.clockAheadOrStale) = error else { return false }
            return true
        }
        #expect(try await world.device.launchAndConfirm()?.labels == Self.first)
        world.clock.set(to: now)
        world.repository.publish(SampleApp.second)
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `a week of suspend in the middle of a trial costs neither the trial nor the next sync`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else {
            Issue.record("nothing is tried out")
            return
        }
        world.clock.advance(by: .days(8))
        // What the server's key signs ended meanwhile on both sides.
        guard case .confirmed = try await world.device.device.confirm(token) else {
            Issue.record("the page says that it works, and is not heard")
            return
        }
        await #expect(throws: SyncError.self) { try await world.device.sync() }
        #expect(try world.device.device.state().machine.state.running?.labels == Self.second)
        let third = SimulatedPatch.bundle("web", "3.0.0", ["index.html": "<p>3</p>"])
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, third])
        let report = try await world.device.sync()
        #expect(report.isComplete && report.staging == .staged)
    }

    @Test func `an app that is installed again takes up its store, or makes one where it was removed with it`()
        async throws
    {
        let world = try await World.running()
        let before = try world.store.deviceID()
        // The same root, server and channel: what the store is made of says nothing new.
        let again = try Device.createOnce(
            world.store,
            server: SimulatedDevice.server,
            channel: SimulatedRepository.production,
            facts: FactChanges(),
            root: world.repository.root,
            access: nil,
            machine: nil,
            embedded: nil,
            appBuild: nil
        )
        guard case .unchanged = again else {
            Issue.record("\(again)")
            return
        }
        #expect(try world.store.deviceID() == before)
        #expect(try await world.device.launchAndConfirm()?.labels == Self.first)
        try world.disk.removeTree(world.store.root)
        let fresh = try SimulatedDevice(of: world.repository, clock: world.clock, on: world.disk)
        try await fresh.sync()
        #expect(try await fresh.launchAndConfirm()?.labels == Self.first)
    }

    @Test func `an image on a hundred devices is a hundred devices, that fetch nothing again`() async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.first)
        let disk = FaultyFiles()
        // Images are made where there is no machine-id(5).
        let image = try SimulatedDevice(of: repository, clock: clock, on: disk, machine: nil)
        try await image.sync()
        try await image.launchAndConfirm()
        repository.publish(
            [
                SampleApp.fix2.with { $0.rules = PatchRules(rollout: 5_000) }, SampleApp.fix1, SampleApp.banner1,
                SampleApp.web1,
            ]
        )
        var generator = SeededGenerator(state: 100)
        var (ids, taken, requests) = (Set<[UInt8]>(), 0, 0)
        for number in 0..<100 {
            let copy = try image.reopened(on: disk.reopened())
            let id = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try await Device.open(
                copy.store,
                now: clock.now,
                machine: MachineIdentity("device \(number)"),
                appBuild: nil,
                random: { id }
            )
            ids.insert(try copy.store.deviceID())
            _ = repository.takeRequests()
            if try await copy.sync().staging == .staged { taken += 1 }
            requests = Swift.max(requests, repository.takeRequests().count)
            // The next start is the same device.
            _ = try await copy.opened(machine: MachineIdentity("device \(number)"))
            #expect(try copy.store.deviceID() == id)
        }
        #expect(ids.count == 100)
        #expect((30...70).contains(taken), "a share is a share of them, not all or none: \(taken)")
        #expect(requests <= 8, "metadata, and the one small script")
    }
}
