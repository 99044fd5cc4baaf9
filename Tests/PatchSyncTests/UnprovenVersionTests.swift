import DeviceTesting
import PatchChoice
import PatchFormat
import PatchSync
import PatchTesting
import Testing

@Suite("A first version")
struct UnprovenVersionTests {
    @Test func `that did not prove itself gives way to no older version in a list that still has it`() async throws {
        let world = try World([.bundle("web", "2", ["index.html": "two"]), .bundle("web", "1", ["index.html": "one"])])
        try await world.device.sync()
        for _ in 1...4 {
            guard case .tryOut(let trial, let token) = try await world.device.device.launch() else {
                Issue.record("the first version should run")
                return
            }
            #expect(trial.labels == "web 2")
            #expect(try await world.device.device.timerEnded(token) == .unproven(trial))
            world.clock.advance(by: .hours(3))
            #expect(try await world.device.sync().staging == .unchanged)
        }
        world.repository.publish([
            .bundle("web", "3", ["index.html": "three"]), .bundle("web", "2", ["index.html": "two"]),
        ])
        #expect(try await world.device.sync().staging == .staged)
        #expect(try await world.device.launchAndConfirm()?.labels == "web 3")
    }
}
