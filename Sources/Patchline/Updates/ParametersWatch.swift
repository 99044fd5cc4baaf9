package import PatchFetch
import PatchFormat
package import PatchSync

/// Looks for other online parameters every so often while an app runs, however seldom it syncs.
package struct ParametersWatch: Sendable {
    /// How often where nothing else is said.
    package static let interval = Duration.seconds(1_800)

    private let interval: Duration
    private let age: @Sendable () -> Duration?
    private let sleep: @Sendable (Duration) async throws -> Void
    private let look: @Sendable () async -> Void

    /// - Parameters:
    ///   - age: how long ago the last sync was, which looked as well; nil before the first.
    package init(
        every interval: Duration,
        age: @escaping @Sendable () -> Duration?,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        look: @escaping @Sendable () async -> Void
    ) {
        self.interval = interval
        self.age = age
        self.sleep = sleep
        self.look = look
    }

    /// Until the task is cancelled.
    package func run() async {
        var wait = min(interval, max(.zero, interval - (age() ?? .zero)))
        while (try? await sleep(wait)) != nil {
            await look()
            wait = interval
        }
    }
}

extension Device {
    /// How long ago the channel was synced; nil where it never was.
    package func timeSinceSync() -> Duration? {
        guard let device = try? reopened(), let last = try? device.state().lastSync else { return nil }
        return now().since(last.at)
    }

    /// One look for other online parameters, at the servers that the configuration names now.
    package func lookForParameters(_ deadlines: Deadlines) async throws(SyncError) -> ParametersUpdate {
        try await store.syncing { () throws(SyncError) in
            let configuration = try store.configuration()
            let deadlines = deadlines.using(configuration.network)
            return try await HTTPFetcher.with(serversOf: configuration, deadlines) { sources throws(SyncError) in
                var engine = SyncEngine(store: store, configuration: configuration, sources: sources, now: now)
                engine.deadlines = deadlines
                return try await engine.lookForParameters()
            }
        }
    }
}
