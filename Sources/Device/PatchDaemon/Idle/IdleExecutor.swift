import NIOPosix
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) package import _Concurrency

/// Where tasks run in a process that is there for days: while none has anything to do, nothing wakes up.
///
/// Swift's own executor is libdispatch's global queue. As soon as one of its threads has run, libdispatch looks once a second how
/// many of them are at work, for as long as the process lives. Here as many threads as there are cores wait for work without a
/// time limit, and one timer of the kernel's for what is to be done later.
package final class IdleExecutor: TaskExecutor, SchedulingExecutor {
    private let threads: NIOThreadPool
    /// For times that pass while the machine sleeps, as on Swift's continuous clock, and for others.
    private let (timer, awakeTimer) = (KernelTimer(goesOn: true), KernelTimer(goesOn: false))

    /// One thread alone would be held up by whoever reads a file.
    package init(threads count: Int) {
        threads = NIOThreadPool(numberOfThreads: max(2, count))
        threads.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        perform(UnownedJob(job))
    }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob,
        after delay: C.Duration,
        tolerance: C.Duration?,
        clock: C
    ) {
        // Clocks with a time of their own let it pass themselves.
        guard let delay = delay as? Duration else { preconditionFailure("a clock of another kind: \(C.self)") }
        let job = UnownedJob(job)
        (clock is SuspendingClock ? awakeTimer : timer).add(in: delay) { [self] in perform(job) }
    }

    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob,
        at instant: C.Instant,
        tolerance: C.Duration?,
        clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    private func perform(_ job: UnownedJob) {
        threads.submit { [self] _ in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Ends its threads; for one that is not the process's.
    package func end() async throws { try await threads.shutdownGracefully() }
}
