import NIOCore

/// Runs tasks on an event loop: what waits for a channel of that loop goes on without another thread.
///
/// Whoever may block, or computes for long, keeps all clients of the loop waiting, and has to leave it.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The task that the job is of keeps it until it has run.
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs `work` where tasks run that may compute for long, whatever runs this.
package func offLoop<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value {
    await withTaskExecutorPreference(globalConcurrentExecutor) {
        // A preference counts from the next suspension on.
        await Task.yield()
        return await work()
    }
}
