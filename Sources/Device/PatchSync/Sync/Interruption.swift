import PatchFetch
/// Runs `work`, and cancels it when `end` returns first: then it ends with `error`, unless it was done all the same.
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
                // Not when this very task was cancelled, which ends every wait.
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
