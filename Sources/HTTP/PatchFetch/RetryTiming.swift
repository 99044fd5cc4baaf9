/// The timer and the random numbers for waits, and the events that end a wait early.
package struct RetryTiming: Sendable {
    /// Throws if the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Returns a number of at least 0 and less than 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Measures the duration of tries.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    package var networkChanges = NetworkChanges.system

    package init() {}

    /// The reason for the end of a wait.
    package enum End: Equatable, Sendable {
        case over
        case networkChanged
    }

    /// Waits for `duration`, or until the network changes.
    package func wait(_ duration: Duration) async throws(FetchError) -> End {
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask { (try? await sleep(duration)).map { .over } }
            group.addTask {
                for await _ in networkChanges { return .networkChanged }
                // There is nothing to watch, so only the timer counts.
                return nil
            }
            defer { group.cancelAll() }
            for await end in group where end != nil { return end }
            return nil
        }
        guard let end, !Task.isCancelled else { throw .cancelled }
        return end
    }
}
