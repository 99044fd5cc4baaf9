import Linux
import NIOConcurrencyHelpers
import PatchServer
import Testing

@Suite("Memory of an idle server")
struct IdleMemoryTests {
    /// A timer, and the number of times at which it gave memory back.
    private struct World: Sendable {
        let clock = TestingClock()
        let used = NIOLockedValueBox(Duration.seconds(3))
        let count = NIOLockedValueBox(0)

        /// Runs the timer while `body` runs.
        func running(_ body: () async -> Void) async throws {
            let timer = IdleMemoryTimer(
                clock: clock,
                processorTime: { [used] in used.withLockedValue(\.self) },
                releaseMemory: { [count] in count.withLockedValue { $0 += 1 } }
            )
            let task = Task { try await timer.run() }
            await body()
            task.cancel()
            try await task.value
        }

        /// The length of the next pause.
        func nextPause() async -> Duration? { await clock.sleeps.first { _ in true } }
    }

    @Test
    func `is given back two seconds after the start, and then looked at every minute`() async throws {
        let world = World()
        try await world.running {
            #expect(await world.nextPause() == .seconds(2))
            #expect(world.count.withLockedValue(\.self) == 0)
            world.clock.wakeAll()
            #expect(await world.nextPause() == .seconds(60))
            #expect(world.count.withLockedValue(\.self) == 1)
            world.clock.wakeAll()
            #expect(await world.nextPause() == .seconds(60))
            #expect(world.count.withLockedValue(\.self) == 1)
            world.used.withLockedValue { $0 += .milliseconds(20) }
            world.clock.wakeAll()
            #expect(await world.nextPause() == .seconds(60))
            #expect(world.count.withLockedValue(\.self) == 2)
        }
    }

    @Test
    func `is given back after an interval with little work that follows some work`() {
        var rule = IdleMemoryRule(processorTime: .seconds(3))
        for (used, shouldRelease) in [
            // Nothing worth it, then enough of it.
            (Duration.milliseconds(3_010), false), (.milliseconds(3_020), true), (.milliseconds(3_030), false),
            // A busy minute, another one, and an idle one.
            (.milliseconds(3_630), false), (.milliseconds(13_000), false), (.milliseconds(13_000), true),
            (.milliseconds(13_000), false),
        ] {
            #expect(rule.shouldRelease(at: used) == shouldRelease)
        }
    }

    @Test
    func `is given back by the real process, which continues`() {
        let before = IdleMemory.processorTime
        IdleMemory.releaseMemory()
        #expect(IdleMemory.processorTime >= before)
    }
}
