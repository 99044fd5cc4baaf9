import Glibc
import NIOPosix

/// The threads that compress, for the whole process: whatever is published at the same time, they and their memory are as many.
///
/// Not those of Swift's tasks, which would have no thread left to answer anybody.
struct CompressionThreads: Sendable {
    /// As many as there are cores; each thorough compression holds some 90 MB of tables.
    static let forms = CompressionThreads(atMost: 4)
    /// A pack from a base takes up to 250 MB: what it is made of, and its tables.
    static let packs = CompressionThreads(atMost: 2)
    /// For work that no publisher waits for: at a low priority, so that it takes the time that nothing else needs.
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

    /// Waits for a thread, and for what it does there.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (pool, niceness) = (pool, niceness)
        // A task of its own, which nobody cancels: a pool gives a cancelled task no thread, and this one needs a result.
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
