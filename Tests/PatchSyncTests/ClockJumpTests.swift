import DeviceTesting
@testable import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import Testing

/// A clock that ran years ahead, and is right again.
@Suite("A block that a wrong clock wrote")
struct ClockJumpTests {
    private let now = ManualClock.start
    private let future = ManualClock.start.adding(.days(4_000))
    private let patch = installed("fix 2")

    @Test(arguments: [
        (1, TrialBlocks.BlockStatus.waiting(until: ManualClock.start.adding(.hours(1)))),
        (2, .blocked(until: ManualClock.start.adding(.days(14)))),
    ])
    func `lasts no longer than its whole length from now`(_ failures: Int, _ expected: TrialBlocks.BlockStatus) {
        var blocks = TrialBlocks()
        for _ in 1...failures { blocks.fail([patch], because: .timer, at: future) }
        blocks.shorten(at: now)
        #expect(blocks.status(of: patch.content, at: now) == expected)
        let shortened = blocks
        blocks.shorten(at: now.adding(.minutes(30)))
        #expect(blocks == shortened, "and ends: it does not begin anew at each look")
    }

    @Test func `is the same for the waits of transfers`() {
        var failures = TransferFailures()
        for _ in 1...3 {
            failures.fail(patch.content, version: patch.version, because: .content, movedForward: false, at: future)
        }
        failures.shorten(at: now)
        let end = now.adding(TransferFailures.longestWait)
        #expect(failures.wait(for: patch.content, at: now) == .init(failures: 3, until: end))
    }

    @Test func `is shortened by the next sync, and saved so`() async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await world.device.sync()
        world.device.clock.advance(by: .days(4_000))
        guard case .tryOut(_, let token) = try await world.device.device.launch() else {
            Issue.record("the update should be on trial")
            return
        }
        _ = try await world.device.device.timerEnded(token)
        world.device.clock.advance(by: .days(-4_000))
        try await world.device.sync()
        let blocks = try world.device.device.state().machine.blocks.blocks.values
        #expect(!blocks.isEmpty)
        #expect(blocks.allSatisfy { $0.until <= now.adding(TrialBlocks.blockTime) })
    }
}
