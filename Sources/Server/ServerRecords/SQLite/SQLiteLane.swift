import Dispatch
import Synchronization

/// A connection and its own thread, so that waiting for the disk or another process does not block tasks.
final class SQLiteLane: Sendable {
    private let connection: SQLiteConnection
    private let queue = DispatchQueue(label: "patchsrv.records")
    private let pending = Atomic(0)

    /// The number of jobs that run or wait.
    var waiting: Int { pending.load(ordering: .relaxed) }

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// Closes the connection after the jobs that were started.
    ///
    /// Later jobs fail.
    func close() { queue.sync { connection.close() } }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(RecordError) -> Value
    ) async throws(RecordError) -> Value {
        pending.wrappingAdd(1, ordering: .relaxed)
        defer { pending.wrappingSubtract(1, ordering: .relaxed) }
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, RecordError>, Never>) in
            queue.async { [connection] in
                done.resume(returning: Result { () throws(RecordError) in try work(connection) })
            }
        }
        return try result.get()
    }
}
