import PatchDaemon
import PatchTesting
import Testing

@Suite("Where the tasks of a lasting process run", .timeLimit(.minutes(10)))
struct IdleExecutorTests {
    @Test func `runs tasks of tasks, also more than it has threads`() async throws {
        let executor = IdleExecutor(threads: 1)
        let sum = await withTaskExecutorPreference(executor) {
            await withTaskGroup(of: Int.self) { group in
                for number in 1...1_000 {
                    group.addTask {
                        await Task.yield()
                        return number
                    }
                }
                return await group.reduce(0, +)
            }
        }
        #expect(sum == 500_500)
        try await executor.end()
    }

    @Test func `goes on with a task when its pause is over, the shorter pause first, on either clock`() async throws {
        let executor = IdleExecutor(threads: 1)
        try await withTaskExecutorPreference(executor) {
            for isAwake in [false, true] {
                // On a busy machine the pauses may begin at different times.
                let isInOrder = try await holdsWithGrowingTime(from: .milliseconds(1)) { unit in
                    let (order, add) = AsyncStream.makeStream(of: Int.self)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for time in [60, 1, 30] {
                            group.addTask {
                                if isAwake {
                                    try await Task.sleep(for: unit * time, clock: .suspending)
                                } else {
                                    try await Task.sleep(for: unit * time, clock: .continuous)
                                }
                                add.yield(time)
                            }
                        }
                        try await group.waitForAll()
                    }
                    add.finish()
                    return await order.reduce(into: []) { $0.append($1) } == [1, 30, 60]
                }
                #expect(isInOrder)
            }
        }
        try await executor.end()
    }

    @Test func `wakes a task that is cancelled at once`() async throws {
        let executor = IdleExecutor(threads: 1)
        let task = Task(executorPreference: executor) { try await Task.sleep(for: .seconds(86_400)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await executor.end()
    }
}
