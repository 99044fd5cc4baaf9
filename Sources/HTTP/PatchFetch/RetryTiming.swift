/// How a device waits: its timer, its dice, and what ends a wait early.
package struct RetryTiming: Sendable {
    /// Throws when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// From 0 up to, not including, 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// How long tries take.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    package var networkChanges = NetworkChanges.system

    package init() {}

    /// What ended a wait.
    package enum End: Equatable, Sendable {
        case over
        case networkChanged
    }

    /// Waits, or until the network changes.
    package func wait(_ duration: Duration) async throws(FetchError) -> End {
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask { (try? await sleep(duration)).map { .over } }
            group.addTask {
                for await _ in networkChanges { return .networkChanged }
                // Nothing to watch: the timer alone counts.
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
