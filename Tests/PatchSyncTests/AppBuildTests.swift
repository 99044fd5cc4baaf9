import PatchChoice
import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@testable import PatchSync

private let first = "banner 1, fix-cart-total 1, web 1.0.0"
private let second = "banner 1, fix-cart-total 2, web 2.0.0"

@Suite("Another build of an app")
struct AppBuildTests {
    /// What the next build ships: a new script, and the web of the first build with one file changed.
    private static func next(of world: EmbeddedWorld, build: String? = nil) -> SimulatedEmbedded {
        world.repository.publish([
            .script("fix-cart-total", "9", "nine();"),
            .bundle("web", "9", ["index.html": "<p>nine</p>", "n.js": "9;"]),
        ])
        return SimulatedEmbedded(of: world.repository, appBuild: build)
    }

    private static let nextLabels = "fix-cart-total 9, web 9"

    /// Runs the second release over the shipped first one, with a failed trial behind it and a third one waiting.
    private static func busy() async throws -> EmbeddedWorld {
        let world = try EmbeddedWorld()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        world.repository.publish([.script("fix-cart-total", "3", "3;"), SampleApp.banner1, SampleApp.web2])
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else { return world }
        _ = try await world.device.device.timerEnded(token)
        world.repository.publish([.script("fix-cart-total", "4", "4;"), SampleApp.banner1, SampleApp.web2])
        try await world.device.sync()
        try world.disk.write([1], to: world.device.store.objects.incoming.appending("0.part"))
        let reports = world.device.store.root.appending("reports")
        try world.disk.makeDirectory(reports)
        try world.disk.write([7], to: reports.appending("1"))
        try world.disk.syncDirectory(reports)
        return world
    }

    @Test func `starts over from what it ships, and keeps trust, device id and unsent reports`() async throws {
        let world = try await Self.busy()
        let store = world.device.store
        #expect(try world.device.device.state().machine.blocks.blocks.count == 1)
        let (id, root) = (try store.deviceID(), try world.disk.read("/store/trust/root.json", limit: 100_000))
        let timestamp = try world.disk.read("/store/trust/timestamp.json", limit: 100_000)
        let next = Self.next(of: world)
        try next.install(at: EmbeddedWorld.folder, on: world.disk)

        let (device, opening) = try await world.device.opened()
        #expect(opening.trouble == nil)
        #expect(opening.settled?.labels == Self.nextLabels)
        let state = try device.device.state()
        #expect(state.machine.state == .settled(try #require(opening.settled)))
        #expect(state.machine.previous == nil && state.machine.blocks.blocks.isEmpty && state.lastSync == nil)
        #expect(try device.device.verifyInstalled(signatures: true).faults == [])
        #expect(try world.disk.list(store.objects.incoming) == [])
        #expect(try world.disk.list(store.bundles) == [])
        #expect(try store.objects.all() == [])
        #expect(try store.deviceID() == id)
        #expect(try world.disk.read("/store/trust/root.json", limit: 100_000) == root)
        #expect(try world.disk.read("/store/trust/timestamp.json", limit: 100_000) == timestamp)
        #expect(try world.disk.read("/store/reports/1", limit: 10) == [7])
        #expect(try await device.opened().1.settled == nil, "once")
        try world.expectUntouched(next)
    }

    @Test func `forgets other channels too`() async throws {
        let world = try EmbeddedWorld()
        world.repository.publish([SampleApp.fix2, SampleApp.web2], to: SimulatedRepository.beta)
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = try await world.device.device.following(channel: SimulatedRepository.beta)
        var device = try world.device.reopened(on: world.disk)
        try await device.sync()
        try Self.next(of: world).install(at: EmbeddedWorld.folder, on: world.disk)
        device = try await device.opened().0
        #expect(try device.device.state().machine.state.running?.labels == Self.nextLabels)
        #expect(try world.disk.list("/store/channels") == ["beta"])
        #expect(try device.device.verifyInstalled(signatures: true).faults == [])
    }

    @Test(arguments: [FaultyFiles.Survival.lose, .keep])
    func `stopped at any change of the disk leaves a complete selection, and the next start finishes`(
        survival: FaultyFiles.Survival
    ) async throws {
        let world = try await Self.busy()
        let before = try world.device.device.state()
        let next = Self.next(of: world)
        try next.install(at: EmbeddedWorld.folder, on: world.disk)
        let rehearsal = world.disk.reopened()
        _ = try await world.device.opened(on: rehearsal)
        #expect(rehearsal.changes > 20)
        for change in Sweep.points(of: rehearsal.changes, every: 6, offset: survival == .lose ? 0 : 3) {
            let disk = world.disk.reopened(failingAtChange: change)
            #expect(try await world.device.opened(on: disk).1.trouble != nil)
            let after = disk.crashed(survival)
            let state = try world.device.reopened(on: after).device.state()
            let isNew = state.machine.state.running?.labels == Self.nextLabels
            #expect(isNew || state == before, "change \(change), \(survival)")
            let (device, _) = try await world.device.opened(on: after)
            #expect(try device.device.state().machine.state.running?.labels == Self.nextLabels, "change \(change)")
            #expect(try device.device.verifyInstalled(signatures: true).faults == [], "change \(change)")
            #expect(try device.device.state().machine.blocks.blocks.isEmpty)
        }
    }

    @Test func `that ships what does not verify changes nothing, and is looked at again at the next start`()
        async throws
    {
        let world = try await Self.busy()
        let before = try world.device.device.state()
        var broken = SimulatedEmbedded(of: world.repository, appBuild: "2")
        broken.documents["scripts/fix-cart-total.js"] = Array("not signed".utf8)
        try broken.install(at: EmbeddedWorld.folder, on: world.disk)
        let (device, opening) = try await world.device.opened()
        #expect(
            opening.trouble
                == .embedded(
                    EmbeddedWorld.folder,
                    .trust(.entry(EntryFault(entry: "fix-cart-total 4", rule: .differs("size"))))
                )
        )
        #expect(try device.device.state() == before)
        let next = Self.next(of: world)
        try next.install(at: EmbeddedWorld.folder, on: world.disk)
        #expect(try await world.device.opened().1.settled?.labels == Self.nextLabels)
    }

    @Test func `that ships nothing keeps what was confirmed, and forgets what waits and what failed`() async throws {
        let world = try await World.running()
        world.repository.publish([.script("fix-cart-total", "3", "3;"), SampleApp.banner1, SampleApp.web1])
        try await world.device.sync()
        guard case .tryOut(_, let token) = try await world.device.device.launch() else { return }
        _ = try await world.device.device.timerEnded(token)
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        _ = try await world.device.opened(appBuild: "1")
        #expect(try world.machine.blocks.blocks.count == 1, "the first time that it is named is no change")
        let (device, opening) = try await world.device.opened(appBuild: "2")
        #expect(opening.trouble == nil && opening.settled == nil)
        let machine = try device.device.state().machine
        #expect(machine.state.phase == .settled && machine.state.running?.labels == first)
        #expect(machine.blocks.blocks.isEmpty)
        try world.expectWhole(first)
        try await device.sync()
        try await device.launchAndConfirm()
        try world.expectWhole(second)
    }

    @Test func `says the same as what it ships`() async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.first)
        let disk = FaultyFiles()
        try SimulatedEmbedded(of: repository, appBuild: "7").install(at: EmbeddedWorld.folder, on: disk)
        let error = SyncError.otherAppBuild(given: name("8"), embedded: name("7"))
        #expect(throws: error) {
            try SimulatedDevice(
                of: repository,
                clock: clock,
                on: disk,
                embedded: EmbeddedWorld.folder,
                appBuild: "8"
            )
        }
        let device = try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: EmbeddedWorld.folder)
        #expect(device.device.configuration.appBuild == name("7"))
        await #expect(throws: error) { try await device.opened(appBuild: "8") }
        #expect(try await device.opened(appBuild: "7").1.settled == nil)
    }

    @Test func `whose folder is gone leaves the store as it is, and a sync heals what is missing`() async throws {
        let world = try EmbeddedWorld()
        try world.disk.removeTree(EmbeddedWorld.folder)
        let (device, opening) = try await world.device.opened()
        #expect(opening.trouble == .embedded(EmbeddedWorld.folder, .missing("embedded.json")))
        #expect(try device.device.status().rows.allSatisfy { $0.state == .fileNotExist })
        try await device.sync()
        #expect(try device.device.verifyInstalled(signatures: true).faults == [])
        #expect(try device.device.state().machine.state.running?.labels == first)
    }
}

@Suite("A device on another machine")
struct MachineTests {
    @Test func `has another id there, and its own on its own machine`() async throws {
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.first)
        let disk = FaultyFiles()
        let home = MachineIdentity("home")
        let device = try SimulatedDevice(of: repository, clock: clock, on: disk, machine: home)
        try await device.sync()
        try await device.launchAndConfirm()
        _ = try await device.opened(machine: home)
        #expect(try device.store.deviceID() == SimulatedDevice.id)
        _ = try await device.opened(machine: nil)
        #expect(try device.store.deviceID() == SimulatedDevice.id, "a machine without an identity says nothing")
        let (moved, _) = try await device.opened(machine: MachineIdentity("elsewhere"))
        #expect(try moved.store.deviceID() == [UInt8](repeating: 9, count: 16))
        #expect(try moved.device.verifyInstalled(signatures: true).faults == [])
        #expect(try moved.device.state().machine.state.running?.labels == first)
        #expect(try await moved.sync().staging == .unchanged)
    }

    @Test func `keeps its id when the store is older than the record of the machine`() async throws {
        let world = try World(SampleApp.first)
        let older = #"{"deviceId":"\#(Hex.text(SimulatedDevice.id))","format":"patchline-device-v1"}"#
        try world.disk.overwrite(world.store.root.appending("device.json"), with: Array(older.utf8))
        _ = try await world.device.opened(machine: MachineIdentity("home"))
        #expect(try world.store.deviceID() == SimulatedDevice.id)
        #expect(try world.store.identity().machine == MachineIdentity("home"))
    }
}
