import PatchChoice
package import AssetServer
import NIOConcurrencyHelpers
package import PatchFetch
import PatchFormat
import PatchStore
package import PatchSync
import ServiceLifecycle

/// The syncs of a running app: one at a time, on a page's request, at an interval where that is set, and by itself
/// until there is something to serve.
package actor Updates: Service {
    package typealias Sync =
        @Sendable (_ report: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncReport

    package struct Settings: Sendable {
        /// Nil: only on request.
        package var interval: Duration?
        /// The pause after a sync that left nothing to serve; nil: only on request.
        package var firstInterval: Duration? = .seconds(30)

        /// Whether it syncs at all.
        package var isAllowed = true

        package init() {}
    }

    private let settings: Settings
    private let events: PageEvents
    private let sync: Sync
    private let isInstalled: @Sendable () -> Bool
    private let report: @Sendable (Result<SyncReport, SyncError>) -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation
    private var isRunning = false
    /// Finished when nothing is served any more.
    private let search = NIOLockedValueBox<AsyncStream<Never>.Continuation?>(nil)

    /// - Parameters:
    ///   - isInstalled: whether there is anything to serve.
    ///   - report: called with each sync's outcome.
    package init(
        _ settings: Settings,
        events: PageEvents,
        isInstalled: @escaping @Sendable () -> Bool,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        report: @escaping @Sendable (Result<SyncReport, SyncError>) -> Void,
        sync: @escaping Sync
    ) {
        self.settings = settings
        self.events = events
        self.isInstalled = isInstalled
        self.sleep = sleep
        self.report = report
        self.sync = sync
        (wishes, wish) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins a sync, unless one runs; returns at once.
    package func check() -> CheckStart {
        guard settings.isAllowed else { return .switchedOff }
        guard !isRunning else { return .alreadyRunning }
        wish.yield()
        return .started
    }

    /// Runs until the task is cancelled or the service group stops; a sync in progress is stopped, and its files stay.
    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.wishByItself() }
                for await _ in wishes { await oneSync() }
                group.cancelAll()
            }
        }
    }

    private func wishByItself() async {
        guard settings.isAllowed else { return }
        if settings.interval != nil { wish.yield() }
        while !Task.isCancelled {
            let isNeeded = settings.firstInterval != nil && !isInstalled()
            if isNeeded { wish.yield() }
            guard isNeeded || settings.interval != nil else {
                // The served selection may be rolled back to nothing: the search then begins again.
                guard settings.firstInterval != nil, await untilNothingIsServed() else { return }
                continue
            }
            guard let pause = isNeeded ? settings.firstInterval : settings.interval else { return }
            guard (try? await sleep(pause)) != nil else { return }
            if !isNeeded, settings.interval != nil { wish.yield() }
        }
    }

    /// Whoever searches by itself does so again.
    nonisolated func nothingIsServed() {
        let signal = search.withLockedValue { search in
            defer { search = nil }
            return search
        }
        signal?.finish()
    }

    /// - Returns: false when the task is cancelled.
    private func untilNothingIsServed() async -> Bool {
        let (gone, signal) = AsyncStream.makeStream(of: Never.self)
        search.withLockedValue { $0 = signal }
        // Before the signal was there, it may have happened already.
        guard isInstalled() else { return !Task.isCancelled }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in gone {}
                return !Task.isCancelled
            }
            group.addTask { [sleep] in (try? await sleep(Self.longest)) != nil }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Nothing has to happen for so long.
    private static let longest = Duration.seconds(86_400)

    private func oneSync() async {
        isRunning = true
        defer { isRunning = false }
        events.tell(.checking)
        let progress = NIOLockedValueBox(SyncProgress())
        do throws(SyncError) {
            let outcome = try await sync { [events] event in
                if let percent = progress.withLockedValue({ $0.take(event) }) { events.tell(.progress(percent)) }
            }
            events.tell(.progress(100))
            let failure = outcome.failures.first?.error.description
            events.tell(failure.map { .failed(PageText.withoutFolders($0)) } ?? .checked(isNew: outcome.isNew))
            report(.success(outcome))
        } catch .lock(.held) {
            // Another process syncs: its result is followed, and another sync asked for after it.
            if (try? await sleep(.seconds(1))) != nil { wish.yield() }
        } catch {
            events.tell(.failed(PageText.withoutFolders(error.description)))
            if !Task.isCancelled { report(.failure(error)) }
        }
    }
}

extension SyncReport {
    var isNew: Bool { staging == .staged }
}

extension Device {
    /// One sync with the servers of the present configuration.
    ///
    /// - Parameters:
    ///   - retryFailed: whether to retry versions that only wait after failures.
    ///   - network: how it is used; nil: as the device is set.
    package func sync(
        _ deadlines: Deadlines,
        retryFailed: Bool = false,
        network: NetworkUse? = nil,
        report: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> SyncReport {
        try await store.syncing { () throws(SyncError) in
            var configuration = try store.configuration()
            if let network { configuration.network = network }
            let deadlines = deadlines.using(configuration.network)
            return try await HTTPFetcher.with(serversOf: configuration, deadlines) {
                [configuration] sources throws(SyncError) in
                var engine = SyncEngine(store: store, configuration: configuration, sources: sources, now: now)
                engine.deadlines = deadlines
                engine.retryNow = retryFailed
                engine.report = report
                engine.atCommitPoint = atCommitPoint
                return try await engine.sync()
            }
        }
    }

    /// What a sync with the servers of the present configuration would fetch, and what that costs.
    package func forecast(
        _ deadlines: Deadlines,
        retryFailed: Bool = false,
        network: NetworkUse? = nil
    ) async throws(SyncError) -> SyncForecast {
        try await store.syncing { () throws(SyncError) in
            var configuration = try store.configuration()
            if let network { configuration.network = network }
            let deadlines = deadlines.using(configuration.network)
            return try await HTTPFetcher.with(serversOf: configuration, deadlines) {
                [configuration] sources throws(SyncError) in
                var engine = SyncEngine(store: store, configuration: configuration, sources: sources, now: now)
                engine.deadlines = deadlines
                engine.retryNow = retryFailed
                return try await engine.forecast()
            }
        }
    }
}
