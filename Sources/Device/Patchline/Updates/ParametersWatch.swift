import NIOConcurrencyHelpers
package import PatchFetch
import PatchFormat
package import PatchSync

/// Checks for new online parameters at an interval while an app runs, even if it rarely syncs.
package final class ParametersWatch: Sendable {
    /// The default interval.
    package static let interval = Duration.seconds(1_800)
    /// A wait that is practically infinite.
    private static let longest = Duration.seconds(31_536_000)

    private struct Pace {
        /// The interval, or nil for never.
        var interval: Duration?
        /// The number of changes so far.
        var changes = 0
        /// The current wait.
        var pause: Task<Void, any Error>?
    }

    private let pace: NIOLockedValueBox<Pace>
    private let age: @Sendable () -> Duration?
    private let sleep: @Sendable (Duration) async throws -> Void
    private let look: @Sendable () async -> Void

    /// - Parameters:
    ///   - interval: The interval, or nil for never.
    ///   - age: The time since the last sync, which checks parameters as well. Nil before the first.
    package init(
        every interval: Duration?,
        age: @escaping @Sendable () -> Duration?,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        look: @escaping @Sendable () async -> Void
    ) {
        pace = NIOLockedValueBox(Pace(interval: interval))
        self.age = age
        self.sleep = sleep
        self.look = look
    }

    /// Applies another interval at once; nil for never.
    package func change(to interval: Duration?) {
        let pause = pace.withLockedValue { pace -> Task<Void, any Error>? in
            guard pace.interval != interval else { return nil }
            pace.interval = interval
            pace.changes += 1
            return pace.pause
        }
        pause?.cancel()
    }

    /// Runs until the task is cancelled.
    package func run() async {
        var passed = age() ?? .zero
        while !Task.isCancelled {
            let (pause, interval, changes) = begin(passed)
            let isOver = await withTaskCancellationHandler {
                (try? await pause.value) != nil
            } onCancel: {
                pause.cancel()
            }
            if isOver {
                if interval != nil { await look() }
                passed = .zero
            } else {
                guard pace.withLockedValue({ $0.changes != changes }) else { return }
                passed = age() ?? .zero
            }
        }
    }

    private func begin(_ passed: Duration) -> (pause: Task<Void, any Error>, interval: Duration?, changes: Int) {
        pace.withLockedValue { pace in
            let wait = pace.interval.map { min($0, max(.zero, $0 - passed)) } ?? Self.longest
            let pause = Task { [sleep] in try await sleep(wait) }
            pace.pause = pause
            return (pause, pace.interval, pace.changes)
        }
    }
}

extension Device {
    /// The time since the channel's last sync, or nil if there was none.
    package func timeSinceSync() -> Duration? {
        guard let device = try? reopened(), let last = try? device.state().lastSync else { return nil }
        return now().since(last.at)
    }

    /// Checks for online parameters once, on the servers of the present configuration.
    package func checkParameters(_ deadlines: Deadlines) async throws(SyncError) -> ParametersUpdate {
        try await withEngine(deadlines) { engine throws(SyncError) in try await engine.checkParameters() }
    }
}
