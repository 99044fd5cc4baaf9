import Dispatch
import Synchronization

/// A connection and the thread that uses it: who waits for the disk, or for another process, keeps no task from running.
final class SQLiteLane: Sendable {
    private let connection: SQLiteConnection
    private let queue = DispatchQueue(label: "patchsrv.records")
    private let pending = Atomic(0)

    /// How many are at work or wait for it.
    var waiting: Int { pending.load(ordering: .relaxed) }

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// Closes the connection after the work that was begun; later work fails.
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
