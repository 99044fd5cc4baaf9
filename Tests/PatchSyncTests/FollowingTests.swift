import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

private let first = "banner 1, fix-cart-total 1, web 1.0.0"

/// `beta` stands for a channel of developers: nothing of it is in production.
@Suite("A device that follows another channel")
struct FollowingTests {
    private let beta = SimulatedRepository.beta
    private let production = SimulatedRepository.production
    private static let preview = [
        SimulatedPatch.bundle("web", "5-dev", ["index.html": "<p>dev</p>", "dev.js": "dev;"])
    ]

    private func running() async throws -> World {
        let world = try await World.running()
        world.repository.publish(Self.preview, to: beta)
        return world
    }

    private func follow(_ channel: ChannelName, _ world: World) async throws -> World {
        var world = world
        let device = try await world.device.device.following(channel: channel)
        #expect(device.configuration.channel == channel)
        world.device.device = device
        return world
    }

    @Test func `keeps running what it runs until the new channel has something confirmed`() async throws {
        let world = try await follow(beta, try await running())
        try world.expectWhole(first)
        #expect(
            try await world.device.device.launch() == .run(try #require(try world.machine.state.running), removed: [])
        )
        try await world.device.sync()
        #expect(try world.machine.state.running?.labels == first)
        guard case .tryOut(let trial, let token) = try await world.device.device.launch() else {
            Issue.record("nothing is on trial")
            return
        }
        #expect(trial[name("web")]?.version == name("5-dev"))
        guard case .rolledBack(let good?, _) = try await world.device.device.timerEnded(token) else {
            Issue.record("nothing to go back to")
            return
        }
        #expect(good.labels == first)
        try world.expectWhole(first)
    }

    @Test func `keeps running what it runs where it was before and nothing proved itself`() async throws {
        let next = selection(["web 9"], number: 4)
        for (left, expected) in [(SelectionState.empty, nil), (.pending(good: nil, next: next), next)] {
            let world = try await running()
            var state = DeviceState()
            state.machine = SelectionMachine(state: left)
            state.lastSync = .init(at: world.clock.now(), roleVersion: 1)
            try world.store.save(state, of: beta)
            let there = try await follow(beta, world)
            #expect(try there.machine.state.running?.labels == first)
            guard let expected else { continue }
            guard case .pending(let good?, expected) = try there.machine.state else {
                Issue.record("what waited there should wait")
                continue
            }
            #expect(good.labels == first)
        }
    }

    @Test func `takes a version whose label the other channel used for other bytes`() throws {
        let context = EligibilityContext(device: DeviceFacts(deviceID: SimulatedDevice.id, time: ManualClock.start))
        let offered = entry("fix", "1", bytes: "other")
        #expect(context.obstacle(to: offered, over: installed("fix 1")) == .republished)
        #expect(context.obstacle(to: offered, over: installed("fix 1").recorded(in: production, from: beta)) == nil)
    }

    @Test func `reads that channel's list alone`() async throws {
        let world = try await follow(beta, try await running())
        try await world.device.sync()
        let requests = world.repository.takeRequests()
        #expect(requests.contains { $0.contains("beta") })
        #expect(!requests.contains { $0.contains("production") })
        // Nothing that only production lists is taken or taken away.
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        #expect(try !world.machine.kept.contains { $0[name("fix-cart-total")]?.version == name("2") })

        let back = try await follow(production, world)
        try await back.device.sync()
        let later = back.repository.takeRequests()
        #expect(!later.contains { $0.contains("targets/beta") })
        #expect(try !back.machine.kept.contains { $0[name("web")]?.version == name("5-dev") })
    }

    @Test func `keeps a patch that the new channel does not list, with the signature of its own channel`() async throws
    {
        let world = try await follow(beta, try await running())
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        try world.expectWhole("banner 1, fix-cart-total 1, web 5-dev")
        let running = try #require(try world.machine.state.running)
        #expect(running.patches.map(\.channel) == [production, production, nil])
        #expect(try await world.device.sync().staging == .unchanged)
    }

    @Test func `keeps all of it while the new channel lists nothing for this device`() async throws {
        let world = try await running()
        world.repository.publish(
            [Self.preview[0].with { $0.rules = PatchRules(rollout: 0) }],
            to: beta
        )
        let followed = try await follow(beta, world)
        #expect(try await followed.device.sync().staging == .unchanged)
        try followed.expectWhole(first)
    }

    @Test func `makes a version its own that both channels list`() async throws {
        let world = try await running()
        world.repository.publish(SampleApp.first, to: beta)
        let followed = try await follow(beta, world)
        #expect(try await followed.device.sync().staging == .unchanged)
        #expect(try #require(try followed.machine.state.running).isFromThisChannel)
        try followed.expectWhole(first)
        // So it can be withdrawn there.
        followed.repository.withdraw("banner", from: beta)
        try await followed.device.sync()
        try await followed.device.launchAndConfirm()
        try followed.expectWhole("fix-cart-total 1, web 1.0.0")
    }

    @Test func `finds the other channel as it was on the way back, with all that waits there`() async throws {
        let world = try await running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        let before = try world.device.device.state()
        #expect(before.machine.state.phase == .pending)
        let followed = try await follow(beta, world)
        try await followed.device.sync()
        try await followed.device.launchAndConfirm()
        try await followed.device.device.removeUnused()
        let back = try await follow(production, followed)
        #expect(try back.device.device.state() == before)
        try back.expectWhole(first)
        _ = back.repository.takeRequests()
        #expect(try await back.device.sync().filesReceived == 0)
        try await back.device.launchAndConfirm()
        try back.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `begins anew from what runs where nothing ever came of that channel`() async throws {
        let world = try await running()
        let followed = try await follow(beta, world)
        let back = try await follow(production, followed)
        back.repository.publish(SampleApp.second)
        try await back.device.sync()
        try await back.device.launchAndConfirm()
        let again = try await follow(beta, back)
        try again.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }

    @Test func `is told at the next sync that there is no such channel, and loses nothing`() async throws {
        let world = try await follow(name("nightly"), try await running())
        let before = try world.device.device.state()
        do throws(SyncError) {
            try await world.device.sync()
            Issue.record("synced")
        } catch {
            #expect(error == .trust(.noChannel("nightly", known: ["beta", "production"])))
        }
        #expect(try world.device.device.state() == before)
        try world.expectWhole(first)
        let back = try await follow(production, world)
        #expect(try await back.device.sync().staging == .unchanged)
        try back.expectWhole(first)
    }

    @Test func `stays where it is while its very first version is on trial`() async throws {
        let world = try World(SampleApp.first)
        try await world.device.sync()
        let empty = try await world.device.device.following(channel: beta)
        #expect(try empty.state().machine.state == .empty, "nothing runs that could go on")
        let device = try await world.device.device.following(channel: production)
        _ = try await device.launch()
        await #expect(throws: SyncError.trialRunning) { try await device.following(channel: beta) }
        #expect(try world.store.configuration().channel == production)
    }

    @Test func `takes what the app ships along, for the way back`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish(Self.preview, to: beta)
        var device = world.device
        device.device = try await device.device.following(channel: beta)
        try await device.sync()
        try await device.launchAndConfirm()
        #expect(try device.device.state().machine.state.running?.labels == "banner 1, fix-cart-total 1, web 5-dev")
        guard case .rolledBack(let good?, _) = try await device.device.rollBack() else {
            Issue.record("nothing to go back to")
            return
        }
        #expect(good.labels == first)
        #expect(try device.device.verifyInstalled(signatures: true).faults == [])
    }

    @Test func `changes its channel completely or not at all`() async throws {
        let world = try await running()
        let rehearsal = world.disk.reopened()
        _ = try await world.device.reopened(on: rehearsal).device.following(channel: beta)
        for change in 1...rehearsal.changes {
            for survival in [FaultyFiles.Survival.lose, .keep] {
                let disk = world.disk.reopened(failingAtChange: change)
                await #expect(throws: SyncError.self) {
                    try await world.device.reopened(on: disk).device.following(channel: beta)
                }
                let device = try world.device.reopened(on: disk.crashed(survival))
                #expect(try device.device.state().machine.state.running?.labels == first, "change \(change)")
                #expect(try device.device.verifyInstalled(signatures: true).faults == [])
            }
        }
    }

    @Test func `trusts no older list on another server`() async throws {
        let world = try await running()
        let old = world.repository.copy(clock: world.clock)
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        let url = try #require(ServerURL("http://other.test"))
        let device = try await world.device.device.following(server: url)
        #expect(device.configuration.server == url && device.configuration.channel == production)
        var engine = world.device.engine
        engine = SyncEngine(
            store: engine.store,
            configuration: device.configuration,
            fetcher: old,
            now: world.clock.now
        )
        #expect(try await engine.sync().staleMirror != nil)
        try world.expectWhole("banner 1, fix-cart-total 2, web 2.0.0")
    }
}
