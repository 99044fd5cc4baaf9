import Linux
import ServiceLifecycle

/// Releases memory soon after a server's start, and later whenever the server is idle.
package struct IdleMemoryTimer<C: Clock<Duration>>: Service {
    private let clock: C
    private let processorTime: @Sendable () -> Duration
    private let giveBack: @Sendable () -> Void

    package init(
        clock: C,
        processorTime: @escaping @Sendable () -> Duration = { IdleMemory.processorTime },
        giveBack: @escaping @Sendable () -> Void = { IdleMemory.giveBack() }
    ) {
        (self.clock, self.processorTime, self.giveBack) = (clock, processorTime, giveBack)
    }

    /// Continues until graceful shutdown or cancellation.
    package func run() async throws {
        guard await sleeps(IdleMemory.afterStart) else { return }
        giveBack()
        var rule = IdleMemoryRule(processorTime: processorTime())
        while await sleeps(IdleMemoryRule.interval) {
            if rule.givesBack(at: processorTime()) { giveBack() }
        }
    }

    /// - Returns: false if the server is to stop.
    private func sleeps(_ time: Duration) async -> Bool {
        (try? await cancelWhenGracefulShutdown { try await clock.sleep(for: time) }) != nil
            && !Task.isShuttingDownGracefully
    }
}
