import PatchStore
package import PatchSync

/// One process for all stores of a device. Each store has its own runner, and the settings may change while it runs.
package actor Daemon {
    private struct Kept {
        let runner: StoreRunner
        let task: Task<Void, Never>
    }

    private let environment: StoreRunner.Environment
    /// Called whenever the set of stores has changed.
    private let hosts: @Sendable ([any StoreHost]) async -> Void
    private var settings = DaemonSettings()
    private var kept: [String: Kept] = [:]

    package init(
        in environment: StoreRunner.Environment,
        hosts: @escaping @Sendable ([any StoreHost]) async -> Void = { _ in }
    ) {
        (self.environment, self.hosts) = (environment, hosts)
    }

    /// Starts all stores, or none.
    ///
    /// - Throws: `lock(.held)` if another process serves one of them. Other errors of a store are reported, and the store is tried
    ///   again, because its disk may become available later.
    package func start(_ settings: DaemonSettings) async throws(SyncError) {
        var runners: [StoreRunner] = []
        for store in settings.stores {
            let runner = StoreRunner(store, in: environment)
            do throws(SyncError) { try await runner.prepare() } catch .lock(.held(let path, by: let process)) {
                throw .lock(.held(path, by: process))
            } catch {
                // The runner reports this when it runs.
            }
            runners.append(runner)
        }
        self.settings = settings
        await begin(runners)
        await notifyHosts()
    }

    /// Applies other settings.
    ///
    /// Only stores with a changed setting that requires a restart are restarted.
    ///
    /// - Returns: The changes that were made.
    package func apply(_ new: DaemonSettings) async -> SettingsChange {
        let change = SettingsChange(from: settings.stores, to: new.stores)
        settings = new
        let ended = change.stopped.compactMap { kept.removeValue(forKey: $0) }
        await Self.end(ended)
        await begin(change.started.map { StoreRunner($0, in: environment) })
        for store in change.adjusted { await kept[store.name]?.runner.adjust(to: store) }
        if !change.stopped.isEmpty || !change.started.isEmpty { await notifyHosts() }
        return change
    }

    /// Stops all stores.
    ///
    /// Returns once every trial is stopped cleanly and every port is free.
    package func stop() async {
        let all = Array(kept.values)
        kept = [:]
        await Self.end(all)
    }

    /// Returns at once, unless the actor is blocked.
    package func answers() {}

    /// A store keeps the port that it had before.
    ///
    /// Of other stores with the same port, the first one receives it.
    private func begin(_ runners: [StoreRunner]) async {
        for runner in runners { await runner.claimPort(ofEarlierStart: true) }
        for runner in runners { await runner.claimPort(ofEarlierStart: false) }
        for runner in runners { keep(runner) }
    }

    private func keep(_ runner: StoreRunner) {
        kept[runner.name] = Kept(runner: runner, task: Task { await runner.run() })
    }

    private func notifyHosts() async {
        await hosts(kept.keys.sorted().compactMap { kept[$0]?.runner })
    }

    private static func end(_ kept: [Kept]) async {
        await withDiscardingTaskGroup { group in
            for one in kept {
                group.addTask {
                    await one.runner.stop()
                    // The runner may be waiting for its next start.
                    one.task.cancel()
                    await one.task.value
                }
            }
        }
    }
}
