import PatchFetch
import PatchSync
import UnixSignals

extension SyncEngine {
    /// One sync, which SIGINT or SIGTERM ends in good order with `fetch(.cancelled)`.
    func untilInterrupted() async throws(SyncError) -> SyncReport {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let outcome: Result<SyncReport, SyncError> = await withTaskGroup(
            of: Result<SyncReport, SyncError>?.self
        ) { group in
            group.addTask {
                do throws(SyncError) { return Result.success(try await sync()) } catch { return .failure(error) }
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
}
