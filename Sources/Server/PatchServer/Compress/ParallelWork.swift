import Glibc
import NIOConcurrencyHelpers
import NIOPosix
import PatchFormat
import PatchStore

/// Jobs that run in order on a few threads.
///
/// Other releases' jobs run in between.
struct ParallelWork<Job: Sendable, Made: Sendable>: Sendable {
    private struct State {
        var next = 0
        var done = 0
        var made: [Made] = []
        var error: ServerError?
    }

    private let jobs: [Job]
    private let threads: CompressionThreads
    private let make: @Sendable (_ job: Job, _ number: Int) throws(ServerError) -> Made?
    private let state = NIOLockedValueBox(State())

    /// - Parameter make: returns nil for an unwanted result; after an error no other job begins.
    init(
        _ jobs: [Job],
        on threads: CompressionThreads,
        make: @escaping @Sendable (_ job: Job, _ number: Int) throws(ServerError) -> Made?
    ) {
        (self.jobs, self.threads, self.make) = (jobs, threads, make)
    }

    /// Does all jobs; throws the first error.
    func run(_ progress: @escaping Progress) async throws(ServerError) -> [Made] {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<min(jobs.count, threads.count) {
                group.addTask {
                    while let done = await threads.run({ next() }) {
                        // Only one worker reports, so the closure is not called concurrently.
                        if worker == 0 { progress(min(done, jobs.count - 1)) }
                    }
                }
            }
        }
        let end = state.withLockedValue { $0 }
        if let error = end.error { throw error }
        progress(jobs.count)
        return end.made
    }

    /// Does the next job.
    ///
    /// - Returns: the number of finished jobs, or nil if no job is left.
    private func next() -> Int? {
        guard let number = take() else { return nil }
        let result = Result { () throws(ServerError) in try make(jobs[number], number) }
        return state.withLockedValue { state in
            state.done += 1
            switch result {
            case .success(let made): if let made { state.made.append(made) }
            case .failure(let error): state.error = state.error ?? error
            }
            return state.done
        }
    }

    private func take() -> Int? {
        state.withLockedValue { state in
            guard state.error == nil, state.next < jobs.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }
}

/// The threads for compression, shared by the whole process.
///
/// Their number and memory do not grow with concurrent publishes. They are separate from the threads of Swift's tasks, which would
/// otherwise have no thread left to serve requests.
struct CompressionThreads: Sendable {
    /// As many threads as there are cores, at most four; each thorough compression uses some 90 MB of tables.
    static let forms = CompressionThreads(atMost: 4)
    /// A pack from a base takes up to 250 MB, for its inputs and its tables.
    static let packs = CompressionThreads(atMost: 2)
    /// Threads for work that no publisher waits for, at a low priority.
    static let background = CompressionThreads(atMost: 2, niceness: 10)

    let count: Int
    private let niceness: Int32
    private let pool: NIOThreadPool

    private init(atMost count: Int, niceness: Int32 = 0) {
        self.niceness = niceness
        self.count = max(1, min(count, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        pool = NIOThreadPool(numberOfThreads: self.count)
        pool.start()
    }

    /// Waits for a thread, and for the result of `work`.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (pool, niceness) = (pool, niceness)
        // A separate, uncancelled task: a pool gives a cancelled task no thread, and this one needs a result.
        let task = Task {
            try await pool.runIfActive {
                // On Linux a priority is a thread's own. Setting it again costs nothing and cannot fail downwards.
                if niceness > 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
                return Result(catching: work)
            }
        }
        guard let result = try? await task.value else {
            preconditionFailure("the threads run for as long as the process")
        }
        return try result.get()
    }
}
