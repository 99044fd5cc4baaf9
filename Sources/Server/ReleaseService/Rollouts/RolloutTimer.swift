import PatchFormat
import ServerRecords
import ServiceLifecycle

/// Takes the steps of rollout schedules while a server runs.
///
/// Another process may publish with a schedule at any time, so the records are read at least every minute.
package struct RolloutTimer<C: Clock<Duration>>: Service {
    private static var longest: Duration { .minutes(1) }

    private let rollouts: Rollouts
    private let clock: C
    private let report: @Sendable (RolloutAdvance) -> Void
    private let failed: @Sendable (OperationError) -> Void

    /// - Parameters:
    ///   - clock: Measures the pauses. Whether a step is due is decided by the records' clock.
    ///   - report: Called for each step and each end, and once for a failure until it changes.
    ///   - failed: Called once if the records cannot be read, until that changes.
    package init(
        _ rollouts: Rollouts,
        clock: C,
        report: @escaping @Sendable (RolloutAdvance) -> Void,
        failed: @escaping @Sendable (OperationError) -> Void
    ) {
        (self.rollouts, self.clock, self.report, self.failed) = (rollouts, clock, report, failed)
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
        var (failures, lastFailure): ([RolloutAdvance], OperationError?) = ([], nil)
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            var next: UTCTime?
            do throws(OperationError) {
                let round = try await rollouts.advance()
                for result in round.results where !failures.contains(result) { report(result) }
                failures = round.results.filter(\.isFailure)
                (next, lastFailure) = (failures.isEmpty ? round.next : nil, nil)
            } catch {
                if error != lastFailure { failed(error) }
                lastFailure = error
            }
            let pause = Self.pause(until: next, at: rollouts.records.now())
            do { try await cancelWhenGracefulShutdown { try await clock.sleep(for: pause) } } catch { return }
        }
    }

    /// The next pause: at least a second, and at most a minute.
    static func pause(until next: UTCTime?, at now: UTCTime) -> Duration {
        guard let next else { return longest }
        return min(longest, max(.seconds(1), next.since(now)))
    }
}

extension RolloutAdvance {
    fileprivate var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}
