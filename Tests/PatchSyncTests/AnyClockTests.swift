import DeviceTesting
@testable import PatchChoice
import PatchFormat
import PatchTesting
import Testing

@testable import PatchSync

/// F8: whatever the clock shows.
@Suite("A device whose clock shows anything")
struct AnyClockTests {
    static let clocks = [
        Int.min, -(1 << 40), -62_167_219_201, -62_167_219_200, -1, 0, 253_402_300_799, 253_402_300_800, 1 << 40,
        1 << 62,
        .max,
    ]

    @Test(arguments: clocks)
    func `rolls a trial back, and can be read when the clock is right again`(seconds: Int) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        var device = try world.device.reopened(on: world.disk)
        device.device.now = { UTCTime(seconds: seconds) }
        guard case .tryOut(_, let token) = try await device.device.launch() else {
            Issue.record("the update should be on trial")
            return
        }
        guard case .rolledBack? = try await device.device.timerEnded(token) else {
            Issue.record("it should be rolled back")
            return
        }
        _ = try device.device.status()
        let later = try world.device.reopened(on: world.disk)
        #expect(try later.store.stateFault(of: SimulatedRepository.production) == nil)
        let end = world.clock.now().adding(TrialBlocks.blockTime)
        #expect(try later.device.state().machine.blocks.blocks.values.allSatisfy { $0.until <= end })
        try await later.sync()
        #expect(try later.device.state().machine.state.running?.labels == "banner 1, fix-cart-total 1, web 1.0.0")
    }

    @Test(arguments: clocks)
    func `ends a sync in good order`(seconds: Int) async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        var engine = world.device.engine
        engine.now = { UTCTime(seconds: seconds) }
        _ = try? await engine.sync()
        #expect(try world.device.reopened(on: world.disk).store.stateFault(of: SimulatedRepository.production) == nil)
    }
}
