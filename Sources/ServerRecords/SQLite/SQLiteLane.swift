import Dispatch

/// A connection and the thread that uses it: who waits for the disk, or for another process, keeps no task from running.
final class SQLiteLane: Sendable {
    private let connection: SQLiteConnection
    private let queue = DispatchQueue(label: "patchsrv.records")

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(RecordError) -> Value
    ) async throws(RecordError) -> Value {
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, RecordError>, Never>) in
            queue.async { [connection] in
                done.resume(returning: Result { () throws(RecordError) in try work(connection) })
            }
        }
        return try result.get()
    }
}
