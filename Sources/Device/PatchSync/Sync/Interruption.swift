import PatchFetch
/// Runs `work`, and cancels it if `end` returns first.
///
/// The result is then `error`, unless `work` finished all the same.
func unless<Result: Sendable>(
    _ error: FetchError,
    _ work: @escaping @Sendable () async throws(SyncError) -> Result,
    when end: @escaping @Sendable () async -> Void
) async throws(SyncError) -> Result {
    typealias Outcome = Swift.Result<Result, SyncError>
    let outcome: Outcome = await withTaskGroup(of: Outcome?.self) { group in
        group.addTask {
            do throws(SyncError) { return Outcome.success(try await work()) } catch { return .failure(error) }
        }
        group.addTask {
            await end()
            return nil
        }
        var hasEnded = false
        for await outcome in group {
            group.cancelAll()
            guard let outcome else {
                // Not if this task itself was cancelled, because cancellation ends every wait.
                hasEnded = !Task.isCancelled
                continue
            }
            if hasEnded, case .failure(.fetch(.cancelled)) = outcome { return .failure(.fetch(error)) }
            return outcome
        }
        return .failure(.fetch(.cancelled))
    }
    return try outcome.get()
}
