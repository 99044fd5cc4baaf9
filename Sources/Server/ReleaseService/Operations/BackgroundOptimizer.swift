package import PatchFormat
package import PatchServer
import PatchStore
import ServiceLifecycle

/// Optimizes published releases while a server runs, including those published by other processes.
///
/// After a publish by its own process it checks at once; for those of other processes it checks rarely.
package final class BackgroundOptimizer: Service {
    private static let afterFailure = Duration.minutes(1)

    private let optimizer: Optimizer
    private let observe: @Sendable (AppID, Result<Optimization.Outcome, OperationError>) -> Void

    /// - Parameter observe: receives each result, and each new error once.
    package init(
        _ operations: ReleaseOperations,
        observe: @escaping @Sendable (AppID, Result<Optimization.Outcome, OperationError>) -> Void = { _, _ in }
    ) {
        (optimizer, self.observe) = (Optimizer(operations), observe)
    }

    /// Runs until graceful shutdown or cancellation.
    ///
    /// A file being made then is abandoned when the process ends.
    package func run() async throws {
        let work = Task { await self.work() }
        try? await gracefulShutdown()
        work.cancel()
    }

    private func work() async {
        var schedule = Schedule()
        while !Task.isCancelled {
            // A command may be optimizing the folder.
            if let lock = try? optimizer.taken() {
                while !Task.isCancelled {
                    await round(&schedule)
                    await optimizer.operations.publishing.ended.wait(atMost: schedule.pause(at: .now))
                }
                lock.release()
            }
            try? await Task.sleep(for: Schedule.rarely, clock: .continuous)
        }
    }

    private func round(_ schedule: inout Schedule) async {
        let operations = optimizer.operations
        for app in (try? operations.folder.allApps(files: operations.files)) ?? [] {
            guard let task = await task(of: app, schedule) else { continue }
            do throws(OperationError) {
                var outcome = Optimization.Outcome()
                switch task {
                case .work:
                    outcome = try await optimizer.work(on: app)
                    // Forms of the previous release are kept for a while.
                    schedule.sweeps[app] = .now.advanced(by: Optimization.grace)
                case .sweep:
                    schedule.sweeps[app] = nil
                    outcome.removed = try await optimizer.sweep(app)
                }
                schedule.failures[app] = nil
                observe(app, .success(outcome))
            } catch .stopping {
                return
            } catch {
                if schedule.failures[app]?.error != error { observe(app, .failure(error)) }
                schedule.failures[app] = (error, .now.advanced(by: Self.afterFailure))
            }
        }
    }

    private enum Work { case work, sweep }

    private func task(of app: AppID, _ schedule: Schedule) async -> Work? {
        let now = ContinuousClock.now
        if let failure = schedule.failures[app], now < failure.until { return nil }
        if let pending = try? await optimizer.pending(of: app), !pending.isEmpty { return .work }
        return schedule.sweeps[app].map { $0 <= now } == true ? .sweep : nil
    }

    /// Apps to optimize later, with their times.
    struct Schedule {
        /// The time between two checks for a publish of another process.
        static let rarely = Duration.seconds(5)

        var sweeps: [AppID: ContinuousClock.Instant] = [:]
        var failures: [AppID: (error: OperationError, until: ContinuousClock.Instant)] = [:]

        /// The time until the next check, unless this process publishes before.
        func pause(at now: ContinuousClock.Instant) -> Duration {
            let next = (Array(sweeps.values) + failures.values.map(\.until)).min()
            return next.map { min(Self.rarely, max(.seconds(1), now.duration(to: $0))) } ?? Self.rarely
        }
    }
}
