/// Runs work one at a time, in the order of arrival.
actor SerialQueue {
    /// Callers beyond this queue length fail immediately.
    private static let limit = 64

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter busy: the error if the queue is full; nil to wait behind any number of callers.
    nonisolated func taken<Value: Sendable, Failure: Error>(
        orElse busy: Failure? = nil,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard await begin(atMost: busy == nil ? .max : Self.limit) else {
            guard let busy else { preconditionFailure("an unlimited queue rejects no caller") }
            throw busy
        }
        do throws(Failure) {
            let value = try await work()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    private func begin(atMost limit: Int) async -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        guard waiting.count < limit else { return false }
        await withCheckedContinuation { waiting.append($0) }
        return true
    }

    private func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

/// Runs work to its end, even if the caller's task is cancelled.
///
/// A request cancelled because its client closed the connection must not stop between changing the published tree and recording the
/// change: functions on the way may check for cancellation.
func withTaskCancellationShield<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    // Unstructured on purpose: this task alone is not cancelled with its caller, and the caller waits for it.
    let task = Task { () -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    return try await task.value.get()
}
