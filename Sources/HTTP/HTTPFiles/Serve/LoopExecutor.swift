import NIOCore

/// Runs tasks on an event loop, so that a task that waits for a channel of that loop resumes without a change of thread.
///
/// Work that blocks or computes for long delays all clients of the loop. It must run elsewhere: see ``offLoop(_:)``.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The job's task keeps the executor alive until the job has run.
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs `work` on the global executor, where tasks may compute for long.
package func offLoop<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value {
    await withTaskExecutorPreference(globalConcurrentExecutor) {
        // An executor preference takes effect at the next suspension.
        await Task.yield()
        return await work()
    }
}
