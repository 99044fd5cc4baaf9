import PatchChoice
import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// What a new online key does not make a device forget.
@Suite("A stolen release key and a new online key")
struct TargetsFloorTests {
    /// A sync throws exactly this, and the device's state and objects stay.
    private func expect(
        _ error: SyncError,
        from world: World,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let state = try world.disk.read("/store/channels/production/state.json", limit: 1_000_000)
        let objects = try world.files().keys.filter { $0.hasPrefix("/store/objects/") }.sorted()
        await #expect(throws: error, sourceLocation: location) { try await world.device.sync() }
        let after = try world.files()
        #expect(after.keys.filter { $0.hasPrefix("/store/objects/") }.sorted() == objects, sourceLocation: location)
        #expect(
            try world.disk.read("/store/channels/production/state.json", limit: 1_000_000) == state,
            sourceLocation: location
        )
    }

    /// Production's release key was stolen and replaced; then the online key was, by a new root, and was stolen too.
    ///
    /// The thief shows the targets role from before, which has not expired, and signs for production again.
    private func afterTwoThefts() async throws -> (world: World, old: RoleFile, new: RoleFile) {
        let world = try await World.running()
        let old = try #require(world.repository.tree.snapshot["targets"])
        world.repository.edit { tree in
            tree.keys["production"] = [.second]
            tree.publishTargets()
            tree.publishChannel(SimulatedRepository.production, SampleApp.first)
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().isComplete)
        world.repository.rotateRoot(online: .other)
        let new = try #require(world.repository.tree.snapshot["targets"])
        world.repository.edit { tree in
            tree.snapshot["targets"] = old
            tree.keys["production"] = [.production]
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        return (world, old, new)
    }

    @Test func `takes no bytes of a revoked release key from a thief of the new online key`() async throws {
        let (world, old, new) = try await afterTwoThefts()
        #expect(old.version == 1 && new.version == 3)
        let refused = SyncError.trust(.rolledBack(role: "targets", offered: 1, trusted: 2))
        try await expect(refused, from: world)
        // The thief's snapshot is stored by now, and is no other floor.
        try await expect(refused, from: world)
        world.repository.edit { tree in
            tree.snapshot["targets"] = new
            tree.keys["production"] = [.second]
            tree.publishChannel(SimulatedRepository.production, SampleApp.second)
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().staging == .staged)
    }

    @Test func `takes the older targets role as a plain TUF client would`() async throws {
        let (world, _, _) = try await afterTwoThefts()
        let client = TUFClient(
            store: TrustStore(folder: "/store/trust", files: world.disk),
            fetcher: world.repository,
            now: world.clock.now
        )
        try await client.refresh()
        let targets = try world.disk.read("/store/trust/targets.json", limit: 100_000)
        #expect(targets == world.repository["metadata/1.targets.json"])
    }

    @Test func `recovers from targets keys that went too far ahead when root replaces them`() async throws {
        let world = try await World.running()
        world.repository.edit { tree in
            tree.versions["targets"] = 1_000
            tree.publishTargets()
            tree.publishSnapshot()
        }
        #expect(try await world.device.sync().isComplete)
        world.repository.edit { $0.versions["targets"] = 5 }
        world.repository.rotateRoot(online: .other)
        try await expect(.trust(.rolledBack(role: "targets", offered: 6, trusted: 1_001)), from: world)
        world.repository.edit { $0.keys["targets"] = [.second] }
        world.repository.rotateRoot(online: .online)
        #expect(try await world.device.sync().isComplete)
    }
}
