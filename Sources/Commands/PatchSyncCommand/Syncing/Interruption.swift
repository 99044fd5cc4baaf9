import PatchFetch
import PatchSync
import UnixSignals

/// Runs work that SIGINT or SIGTERM ends cleanly with `fetch(.cancelled)`.
func untilInterrupted<Outcome: Sendable>(
    _ work: @escaping @Sendable () async throws(SyncError) -> Outcome
) async throws(SyncError) -> Outcome {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let outcome: Result<Outcome, SyncError> = await withTaskGroup(of: Result<Outcome, SyncError>?.self) { group in
        group.addTask {
            do throws(SyncError) { return Result.success(try await work()) } catch { return .failure(error) }
        }
        group.addTask {
            for await _ in signals { break }
            return nil
        }
        for await outcome in group {
            group.cancelAll()
            if let outcome { return outcome }
        }
        return .failure(.fetch(.cancelled))
    }
    return try outcome.get()
}
