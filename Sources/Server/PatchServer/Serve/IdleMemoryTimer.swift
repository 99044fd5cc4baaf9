import Linux
import ServiceLifecycle

/// Releases memory soon after a server's start, and later whenever the server is idle.
package struct IdleMemoryTimer<C: Clock<Duration>>: Service {
    private let clock: C
    private let processorTime: @Sendable () -> Duration
    private let releaseMemory: @Sendable () -> Void

    package init(
        clock: C,
        processorTime: @escaping @Sendable () -> Duration = { IdleMemory.processorTime },
        releaseMemory: @escaping @Sendable () -> Void = { IdleMemory.releaseMemory() }
    ) {
        (self.clock, self.processorTime, self.releaseMemory) = (clock, processorTime, releaseMemory)
    }

    /// Continues until graceful shutdown or cancellation.
    package func run() async throws {
        guard await sleeps(IdleMemory.afterStart) else { return }
        releaseMemory()
        var rule = IdleMemoryRule(processorTime: processorTime())
        while await sleeps(IdleMemoryRule.interval) {
            if rule.shouldRelease(at: processorTime()) { releaseMemory() }
        }
    }

    /// - Returns: false if the server is to stop.
    private func sleeps(_ time: Duration) async -> Bool {
        (try? await cancelWhenGracefulShutdown { try await clock.sleep(for: time) }) != nil
            && !Task.isShuttingDownGracefully
    }
}
