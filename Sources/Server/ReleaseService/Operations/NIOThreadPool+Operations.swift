import NIOPosix

extension NIOThreadPool {
    /// On one of these threads, which may wait for the disk.
    ///
    /// - Throws: `stopping` when the server stops before the turn of `work` comes, and what it throws.
    func taken<Value: Sendable>(
        by work: @escaping @Sendable () throws(OperationError) -> Value
    ) async throws(OperationError) -> Value {
        let result: Result<Value, OperationError>
        do {
            result = try await runIfActive {
                do throws(OperationError) { return .success(try work()) } catch { return .failure(error) }
            }
        } catch { throw .stopping }
        return try result.get()
    }
}
