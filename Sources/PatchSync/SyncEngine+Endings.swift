import NIOConcurrencyHelpers

/// What ends a download before its time, and what interrupts it.
extension SyncEngine {
    /// Runs `work`, and cancels it when `end` returns first: then it ends with `error`, unless it was done all the same.
    func ending<Result: Sendable>(
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

    /// Waits for the next try, or for the network.
    ///
    /// - Returns: why the sync ends here.
    func pause(_ duration: Duration, because error: SyncError) async -> SyncError? {
        report(.waiting(duration, because: error))
        do throws(FetchError) {
            if try await pauses.wait(duration) == .networkChanged { report(.networkChanged) }
            return nil
        } catch { return .fetch(error) }
    }
}

/// What travelled in a sync, also for lists that a newer one replaced.
final class Traffic: Sendable {
    private let state = NIOLockedValueBox((files: 0, bytes: 0))

    var files: Int { state.withLockedValue(\.files) }
    var bytes: Int { state.withLockedValue(\.bytes) }

    func add(_ outcome: Download.Outcome) {
        state.withLockedValue { state in
            state.files += outcome.filesReceived
            state.bytes += outcome.bytesReceived
        }
    }
}
