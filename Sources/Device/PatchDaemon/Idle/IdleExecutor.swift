import NIOPosix
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) package import _Concurrency

/// Runs the tasks of a process that lives for days.
///
/// While no task is ready, it does not wake up.
///
/// Swift's own executor is libdispatch's global queue. As soon as one of its threads has run, libdispatch checks once a second how
/// many of them are busy, for as long as the process lives. Here as many threads as there are cores wait for work without a time
/// limit, and one kernel timer waits for delayed work.
package final class IdleExecutor: TaskExecutor, SchedulingExecutor {
    private let threads: NIOThreadPool
    /// The timers for clocks that advance while the machine sleeps, such as Swift's continuous clock, and for others.
    private let (timer, awakeTimer) = (KernelTimer(advancesInSleep: true), KernelTimer(advancesInSleep: false))

    /// At least two threads are needed, because one alone would be blocked by a task that reads a file.
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
        // Clocks with other durations implement their own waiting.
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

    /// Ends the threads.
    ///
    /// Only for an executor that is not the process's own.
    package func end() async throws { try await threads.shutdownGracefully() }
}
