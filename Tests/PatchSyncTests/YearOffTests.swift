import DeviceTesting
import PatchChoice
import PatchFormat
import PatchSync
import PatchTesting
import Testing

/// The drill is named after Fleet's outage of October 2024 (fleetdm/fleet#22687): a root that expired stopped its agents.
@Suite("A device that was off for a year")
struct YearOffTests {
    private static let second = "banner 1, fix-cart-total 2, web 2.0.0"

    @Test(arguments: [false, true])
    func `runs, tries and confirms what it has while every role is expired, and the first valid ones heal it`(
        rotatesRoot: Bool
    ) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        #expect(try await world.device.sync().staging == .staged)
        world.clock.advance(by: .days(366))
        await #expect {
            try await world.device.sync()
        } throws: { error in
            guard case SyncError.trust = error else { return false }
            return true
        }
        #expect(try await world.device.launchAndConfirm()?.labels == Self.second)
        #expect(try world.device.device.verifyInstalled(signatures: true).faults == [])
        if rotatesRoot {
            world.repository.rotateRoot(online: .other)
        } else {
            world.repository.edit { tree in tree.publishRoot() }
        }
        world.repository.edit { tree in tree.publishTargets() }
        let third = SimulatedPatch.bundle("web", "3.0.0", ["index.html": "<p>3</p>"])
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, third])
        let healed = try await world.device.sync()
        #expect(healed.isComplete && healed.staging == .staged)
        #expect(try await world.device.launchAndConfirm()?.labels == "banner 1, fix-cart-total 2, web 3.0.0")
    }
}
