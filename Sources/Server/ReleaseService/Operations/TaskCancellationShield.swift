/// Runs work to its end, also when the caller's task is cancelled.
///
/// A request that is cancelled, because its client closed the connection, must not stop between the published tree and
/// what is remembered of the change: whatever it waits for may look at cancellation.
func withTaskCancellationShield<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    // Unstructured on purpose: the one task that is not cancelled with its caller, and its caller waits for it.
    let task = Task { () -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try await task.value.get()
}
