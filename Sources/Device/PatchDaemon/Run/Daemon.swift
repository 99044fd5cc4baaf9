import PatchStore
package import PatchSync

/// One process of a device, for all its stores: each is kept by a runner of its own, and settings may change meanwhile.
package actor Daemon {
    private struct Kept {
        let runner: StoreRunner
        let task: Task<Void, Never>
    }

    private let around: StoreRunner.Surroundings
    /// Told whenever the stores are other ones.
    private let hosts: @Sendable ([any StoreHost]) async -> Void
    private var settings = DaemonSettings()
    private var kept: [String: Kept] = [:]

    package init(
        in around: StoreRunner.Surroundings,
        hosts: @escaping @Sendable ([any StoreHost]) async -> Void = { _ in }
    ) {
        (self.around, self.hosts) = (around, hosts)
    }

    /// Begins with all stores, or with none.
    ///
    /// - Throws: `lock(.held)` where another process serves one of them. What else is wrong with one is told, and it is tried
    ///   again: a disk may come late.
    package func start(_ settings: DaemonSettings) async throws(SyncError) {
        var runners: [StoreRunner] = []
        for store in settings.stores {
            let runner = StoreRunner(store, in: around)
            do throws(SyncError) { try await runner.prepare() } catch .lock(.held(let path, by: let process)) {
                throw .lock(.held(path, by: process))
            } catch {
                // It says so when it runs.
            }
            runners.append(runner)
        }
        self.settings = settings
        await begin(runners)
        await tellHosts()
    }

    /// Other settings hold from now on.
    ///
    /// Only stores with a changed setting that needs a restart are stopped and started.
    ///
    /// - Returns: what was done.
    package func apply(_ new: DaemonSettings) async -> SettingsChange {
        let change = SettingsChange(from: settings.stores, to: new.stores)
        settings = new
        let ended = change.stopped.compactMap { kept.removeValue(forKey: $0) }
        await Self.end(ended)
        await begin(change.started.map { StoreRunner($0, in: around) })
        for store in change.adjusted { await kept[store.name]?.runner.adjust(to: store) }
        if !change.stopped.isEmpty || !change.started.isEmpty { await tellHosts() }
        return change
    }

    /// Returns once every trial is stopped cleanly and every port is free.
    package func stop() async {
        let all = Array(kept.values)
        kept = [:]
        await Self.end(all)
    }

    /// Returns at once, unless something keeps it from working.
    package func answers() {}

    /// A port that a store had before stays its own; of the others the first one has it.
    private func begin(_ runners: [StoreRunner]) async {
        for runner in runners { await runner.claimPort(ofEarlierStart: true) }
        for runner in runners { await runner.claimPort(ofEarlierStart: false) }
        for runner in runners { keep(runner) }
    }

    private func keep(_ runner: StoreRunner) {
        kept[runner.name] = Kept(runner: runner, task: Task { await runner.run() })
    }

    private func tellHosts() async {
        await hosts(kept.keys.sorted().compactMap { kept[$0]?.runner })
    }

    private static func end(_ kept: [Kept]) async {
        await withDiscardingTaskGroup { group in
            for one in kept {
                group.addTask {
                    await one.runner.stop()
                    // It may wait for its next start.
                    one.task.cancel()
                    await one.task.value
                }
            }
        }
    }
}
