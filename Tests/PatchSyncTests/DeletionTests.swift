import PatchChoice
import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// Row J9, for bundles: what a script leaves in memory is the runtime's matter.
@Suite("A bundle that is deleted")
struct DeletionTests {
    @Test func `is gone at the next launch with every file of its own, and the second sync does nothing`() async throws
    {
        let world = try await World.running()
        let web = try #require(try world.machine.state.running?[name("web")])
        world.repository.withdraw("web")
        try await world.device.sync()
        #expect(try world.machine.state.running?.labels == "banner 1, fix-cart-total 1, web 1.0.0", "until the launch")
        guard case .run(let rest, removed: [name("web")]) = try await world.device.device.launch() else {
            Issue.record("a deletion needs no trial")
            return
        }
        #expect(rest.labels == "banner 1, fix-cart-total 1")
        #expect(try world.machine.kept.allSatisfy { $0[name("web")] == nil })
        #expect(try world.disk.list(world.store.bundles) == [])
        #expect(try Set(world.store.objects.all()) == Set(rest.patches.map(\.fingerprint.sha256)))
        #expect(world.store.index(of: web.fingerprint.sha256) == nil)
        #expect(try world.status() == ["banner 1 Success", "fix-cart-total 1 Success"])
        await #expect(throws: SyncError.nothingToRollBackTo) { try await world.device.device.rollBack() }

        try await world.device.sync()
        let (before, _) = (try world.files(), world.repository.takeRequests())
        #expect(try await world.device.sync().staging == .unchanged)
        #expect(try world.files() == before)
        #expect(world.repository.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
    }

    @Test func `leaves nothing to run where it was all there was`() async throws {
        let world = try await World.running([SampleApp.web1])
        world.repository.publish([])
        try await world.device.sync()
        guard case .run(let rest, removed: [name("web")]) = try await world.device.device.launch() else {
            Issue.record("a deletion needs no trial")
            return
        }
        #expect(rest.patches == [])
        #expect(try world.machine.state == .empty)
        #expect(try world.disk.list(world.store.bundles) == [] && world.store.objects.all() == [])
        #expect(try await world.device.device.launch() == .nothing)
    }

    @Test func `is fetched and tried anew once it is listed again`() async throws {
        let world = try await World.running()
        world.repository.withdraw("web")
        try await world.device.sync()
        _ = try await world.device.device.launch()
        world.repository.publish(SampleApp.first)
        #expect(try await world.device.sync().staging == .staged)
        guard case .tryOut(let trial, _) = try await world.device.device.launch() else {
            Issue.record("it should be on trial")
            return
        }
        #expect(trial.labels == "banner 1, fix-cart-total 1, web 1.0.0")
    }
}
