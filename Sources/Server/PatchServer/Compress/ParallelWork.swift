import NIOConcurrencyHelpers
import PatchFormat
import PatchStore

/// Jobs that are done in order on a few threads, a job at a time, so that another release's come in between.
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

    /// - Parameter make: nil for what is not wanted after all; after an error no other job begins.
    init(
        _ jobs: [Job],
        on threads: CompressionThreads,
        make: @escaping @Sendable (_ job: Job, _ number: Int) throws(ServerError) -> Made?
    ) {
        (self.jobs, self.threads, self.make) = (jobs, threads, make)
    }

    /// All of them, or why one failed.
    func run(_ progress: @escaping Progress) async throws(ServerError) -> [Made] {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<min(jobs.count, threads.count) {
                group.addTask {
                    while let done = await threads.run({ next() }) {
                        // One teller: it is not called from several threads at once.
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
    /// - Returns: how many are done; nil when there is nothing more to do.
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
