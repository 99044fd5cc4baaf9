import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// Damage on the device is mended before any roll back is considered: it says nothing of a release.
@Suite("A trial whose files are damaged")
struct DamagedTrialTests {
    private static let first = "banner 1, fix-cart-total 1, web 1.0.0"
    private static let second = "banner 1, fix-cart-total 2, web 2.0.0"

    enum Part: CaseIterable {
        case script, asset, manifest

        func damage(_ trial: Selection, in world: World) throws {
            let digest =
                switch self {
                case .script: SHA256Digest(of: Array("cart.total = 2;".utf8))
                case .asset: SHA256Digest(of: Array("console.log(2);".utf8))
                case .manifest: try #require(trial[name("web")]).fingerprint.sha256
                }
            try world.disk.overwrite(world.store.objects.path(of: digest), with: [0x2A])
        }
    }

    private static func damageFirstScript(of world: World) throws {
        let digest = SHA256Digest(of: Array("cart.total = 1;".utf8))
        try world.disk.overwrite(world.store.objects.path(of: digest), with: [])
    }

    /// The second release on trial, by its first launch.
    private func onTrial() async throws -> (World, trial: Selection, LaunchToken) {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .tryOut(let trial, let token) = try await world.device.device.launch() else {
            throw SyncError.nothingPending
        }
        return (world, trial, token)
    }

    private func expectInterrupted(
        _ world: World,
        _ trial: Selection,
        _ activation: SelectionMachine.Activation?
    ) throws {
        let good = try #require(try world.machine.state.running)
        #expect(good.labels == Self.first)
        #expect(activation == .interrupted(to: good, damaged: trial))
        #expect(try world.machine.state == .pending(good: good, next: trial.activating(.atNextLaunch)))
        #expect(try world.machine.blocks == TrialBlocks(), "it failed nothing")
    }

    @Test(arguments: Part.allCases)
    func `waits again when its time is over, is mended by the next sync, and proves itself then`(part: Part)
        async throws
    {
        let (world, trial, token) = try await onTrial()
        try part.damage(trial, in: world)
        try expectInterrupted(world, trial, try await world.device.device.timerEnded(token))
        _ = world.repository.takeRequests()
        let report = try await world.device.sync()
        #expect(report.isComplete && report.filesReceived == 1)
        #expect(try world.machine.state.running?.labels == Self.first)
        #expect(try await world.device.launchAndConfirm()?.labels == Self.second)
        try world.expectWhole(Self.second)
    }

    /// A start of a large bundle would take as long as hashing it.
    @Test func `is started without reading files that are as they were verified, and with a look into changed ones`()
        async throws
    {
        for (isChanged, starts) in [(false, true), (true, false)] {
            let world = try await World.running()
            world.repository.publish(SampleApp.second)
            try await world.device.sync()
            let asset = world.store.objects.path(of: SHA256Digest(of: Array("console.log(2);".utf8)))
            // The medium altered it: only a reader could see that.
            if isChanged { try world.disk.overwrite(asset, with: [0x2A]) } else { try world.disk.rot(asset) }
            let activation = try await world.device.device.launch()
            let isTrial = if case .tryOut = activation { true } else { false }
            #expect(isTrial == starts)
        }
    }

    @Test func `waits again when its launches are used up`() async throws {
        let (world, trial, _) = try await onTrial()
        #expect(try await world.device.device.launch() == .tryOut(trial, SimulatedDevice.token(2)))
        try Part.asset.damage(trial, in: world)
        try expectInterrupted(world, trial, try await world.device.device.launch())
    }

    @Test func `is not tried again before it is mended, and what ran before runs at every launch`() async throws {
        let (world, trial, token) = try await onTrial()
        try Part.script.damage(trial, in: world)
        _ = try await world.device.device.timerEnded(token)
        let waiting = try world.machine.state
        await #expect(throws: SyncError.waitsForLaunch) { try await world.device.device.switchToPending() }
        for _ in 1...3 {
            guard case .run(let good, removed: []) = try await world.device.device.launch() else {
                Issue.record("what is damaged should wait")
                return
            }
            #expect(good.labels == Self.first)
            #expect(try world.machine.state == waiting)
        }
        try await world.device.sync()
        guard case .tryOut(let again, _) = try await world.device.device.launch() else {
            Issue.record("it should be tried again")
            return
        }
        #expect(again.contents == trial.contents)
        guard case .trying(_, _, let launch) = try world.machine.state else { return }
        #expect(launch.launches == 1)
    }

    @Test func `that was altered while it waited is not begun before it is mended`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        guard case .pending(_, let next) = try world.machine.state else {
            Issue.record("the second release should wait")
            return
        }
        try Part.asset.damage(next, in: world)
        guard case .run(let good, removed: []) = try await world.device.device.launch() else {
            Issue.record("what is damaged should wait")
            return
        }
        #expect(good.labels == Self.first)
        #expect(try await world.device.sync().filesReceived == 1)
        #expect(try await world.device.launchAndConfirm()?.labels == Self.second)
    }

    @Test func `stays where nothing was confirmed before, and a sync mends it`() async throws {
        let world = try World()
        try await world.device.sync()
        guard case .tryOut(let trial, let token) = try await world.device.device.launch() else { return }
        try Self.damageFirstScript(of: world)
        let before = try world.machine
        #expect(try await world.device.device.timerEnded(token) == .unproven(trial))
        #expect(try world.machine == before)
        #expect(try await world.device.sync().filesReceived == 1)
        #expect(try await world.device.launchAndConfirm()?.labels == Self.first)
    }

    @Test func `is one of whole files when only what ran before it is damaged`() async throws {
        let (world, trial, token) = try await onTrial()
        try Self.damageFirstScript(of: world)
        guard case .rolledBack(_, from: trial)? = try await world.device.device.timerEnded(token) else {
            Issue.record("a trial that was whole and never confirmed failed")
            return
        }
    }
}
