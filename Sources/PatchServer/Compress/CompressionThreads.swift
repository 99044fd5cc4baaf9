import Glibc
import NIOPosix

/// The threads that compress, for the whole process: whatever is published at the same time, they and their memory are as many.
///
/// Not those of Swift's tasks, which would have no thread left to answer anybody.
enum CompressionThreads {
    /// As many as there are cores; each thorough compression holds some 90 MB of tables.
    static let count = max(1, min(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private static let pool: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
        return threads
    }()

    /// Waits for a thread, and for what it does there.
    static func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure>
        do { result = try await pool.runIfActive { Result(catching: work) } } catch {
            preconditionFailure("the threads run for as long as the process")
        }
        return try result.get()
    }
}
