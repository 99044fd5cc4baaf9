import PatchChoice
package import AssetServer
import NIOConcurrencyHelpers
package import PatchFetch
import PatchFormat
import PatchStore
package import PatchSync
import ServiceLifecycle

/// The syncs of a running app, one at a time: on a page's request, at an interval if one is set, and automatically until there is a
/// version to serve.
package actor Updates: Service {
    package typealias Sync =
        @Sendable (_ report: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncReport

    /// A sync with wishes.
    package typealias RequestedSync =
        @Sendable (SyncRequest, _ report: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncReport

    /// The options of one requested sync.
    package struct SyncRequest: Equatable, Sendable {
        /// Whether the network is metered; nil for the device's setting.
        package var isMetered: Bool?
        package var retriesFailed = false

        package init() {}
    }

    private struct Request {
        let wish: SyncRequest
        let answer: CheckedContinuation<Result<SyncReport, SyncError>, Never>
    }

    package struct Settings: Sendable {
        /// The time between syncs; nil to sync only on request.
        package var interval: Duration?
        /// The pause after a sync that left no version to serve; nil to sync only on request.
        package var firstInterval: Duration? = .seconds(30)

        /// Whether the app syncs at all.
        package var isAllowed = true

        package init() {}
    }

    private let settings: Settings
    private let events: PageEvents
    private let sync: RequestedSync
    private let isInstalled: @Sendable () -> Bool
    private let report: @Sendable (Result<SyncReport, SyncError>) -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    /// Receives requests for syncs; nil while ``run()`` does not run.
    private var wishes: AsyncStream<Void>.Continuation?
    /// Whether a sync was requested before ``run()``.
    private var isRequested = false
    private var isRunning = false
    /// The callers that wait for a sync's outcome.
    private var requests: [Request] = []
    private var isOver = false
    /// Finished when no version is served any more.
    private let search = NIOLockedValueBox<AsyncStream<Never>.Continuation?>(nil)

    /// - Parameters:
    ///   - isInstalled: Whether there is a version to serve.
    ///   - report: Called with each sync's outcome.
    package init(
        _ settings: Settings,
        events: PageEvents,
        isInstalled: @escaping @Sendable () -> Bool,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        report: @escaping @Sendable (Result<SyncReport, SyncError>) -> Void,
        sync: @escaping RequestedSync
    ) {
        self.settings = settings
        self.events = events
        self.isInstalled = isInstalled
        self.sleep = sleep
        self.report = report
        self.sync = sync
    }

    /// Begins a sync, unless one runs; returns at once.
    package func check() -> CheckStart {
        guard settings.isAllowed else { return .switchedOff }
        guard !isRunning else { return .alreadyRunning }
        ask()
        return .started
    }

    /// Runs a separate sync after the one in progress and those requested before.
    ///
    /// This also works if syncs are switched off.
    ///
    /// - Throws: `fetch(.cancelled)` once the app was stopped.
    package func sync(_ wish: SyncRequest) async throws(SyncError) -> SyncReport {
        guard !isOver else { throw .fetch(.cancelled) }
        let result = await withCheckedContinuation { answer in
            requests.append(Request(wish: wish, answer: answer))
            ask()
        }
        return try result.get()
    }

    /// Runs until the task is cancelled or the service group stops.
    ///
    /// A sync in progress is stopped, and its files are kept.
    package func run() async {
        // Each run needs its own stream, because cancelling the task that reads a stream ends the stream.
        let (stream, wishes) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wishes = wishes
        isOver = false
        if isRequested { ask() }
        isRequested = false
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.requestAutomatically() }
                for await _ in stream { await oneSync() }
                group.cancelAll()
            }
        }
        isOver = true
        self.wishes = nil
        let unanswered = requests
        requests = []
        for request in unanswered { request.answer.resume(returning: .failure(.fetch(.cancelled))) }
    }

    private func ask() {
        guard let wishes else { return isRequested = true }
        wishes.yield()
    }

    private func requestAutomatically() async {
        guard settings.isAllowed else { return }
        if settings.interval != nil { ask() }
        while !Task.isCancelled {
            let isNeeded = settings.firstInterval != nil && !isInstalled()
            if isNeeded { ask() }
            guard isNeeded || settings.interval != nil else {
                // The served selection may be rolled back to nothing, which restarts the search.
                guard settings.firstInterval != nil, await waitUntilUnserved() else { return }
                continue
            }
            guard let pause = isNeeded ? settings.firstInterval : settings.interval else { return }
            guard (try? await sleep(pause)) != nil else { return }
            if !isNeeded, settings.interval != nil { ask() }
        }
    }

    /// Restarts the automatic search for a first version.
    nonisolated func searchForFirstVersion() {
        let signal = search.withLockedValue { search in
            defer { search = nil }
            return search
        }
        signal?.finish()
    }

    /// - Returns: False if the task is cancelled.
    private func waitUntilUnserved() async -> Bool {
        let (gone, signal) = AsyncStream.makeStream(of: Never.self)
        search.withLockedValue { $0 = signal }
        // It may have happened before the signal existed.
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

    /// The longest wait before the next check.
    private static let longest = Duration.seconds(86_400)

    private func oneSync() async {
        isRunning = true
        defer { isRunning = false }
        let request = requests.isEmpty ? nil : requests.removeFirst()
        if !requests.isEmpty { ask() }
        let result = await outcome(of: request?.wish ?? SyncRequest())
        request?.answer.resume(returning: result)
        switch result {
        case .success: break
        case .failure(.lock(.held)):
            // Another process syncs. Its result is followed, and another sync is requested after it.
            if request == nil, (try? await sleep(.seconds(1))) != nil { ask() }
            return
        case .failure: if Task.isCancelled { return }
        }
        report(result)
    }

    private func outcome(of wish: SyncRequest) async -> Result<SyncReport, SyncError> {
        events.notify(.checking)
        let progress = NIOLockedValueBox(SyncProgress())
        do throws(SyncError) {
            let notify: @Sendable (SyncEvent) -> Void = { [events] event in
                if let percent = progress.withLockedValue({ $0.take(event) }) { events.notify(.progress(percent)) }
            }
            let outcome = try await sync(wish, notify)
            events.notify(.progress(100))
            let failure = outcome.failures.first?.error.description
            events.notify(failure.map { .failed(PageText.withoutFolders($0)) } ?? .checked(isNew: outcome.isNew))
            return .success(outcome)
        } catch {
            if case .lock(.held) = error { return .failure(error) }
            events.notify(.failed(PageText.withoutFolders(error.description)))
            return .failure(error)
        }
    }
}

extension SyncReport {
    var isNew: Bool { staging == .staged }
}

extension Device {
    /// Runs one sync with the servers of the present configuration.
    ///
    /// - Parameters:
    ///   - retryFailed: Whether to retry versions that only wait after failures.
    ///   - network: How the network is used. Nil for the device's setting.
    package func sync(
        _ deadlines: Deadlines,
        retryFailed: Bool = false,
        network: NetworkUse? = nil,
        report: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> SyncReport {
        try await store.notingFailure(at: now) { () throws(SyncError) in
            try await withEngine(deadlines, retryFailed, network) { engine throws(SyncError) in
                var engine = engine
                engine.report = report
                engine.atCommitPoint = atCommitPoint
                return try await engine.sync()
            }
        }
    }

    package func sync(
        _ wish: Updates.SyncRequest,
        _ deadlines: Deadlines,
        report: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> SyncReport {
        var network: NetworkUse?
        if let isMetered = wish.isMetered {
            network = configuration.network
            network?.isMetered = isMetered
        }
        return try await sync(deadlines, retryFailed: wish.retriesFailed, network: network, report: report)
    }

    /// Returns the versions that a sync with the servers of the present configuration would download, and their cost.
    package func forecast(
        _ deadlines: Deadlines,
        retryFailed: Bool = false,
        network: NetworkUse? = nil
    ) async throws(SyncError) -> SyncForecast {
        try await withEngine(deadlines, retryFailed, network) { engine throws(SyncError) in try await engine.forecast()
        }
    }

    /// Runs `body` with an engine for the servers of the present configuration, while no other sync of the store runs.
    func withEngine<Outcome: Sendable>(
        _ deadlines: Deadlines,
        _ retryFailed: Bool = false,
        _ network: NetworkUse? = nil,
        _ body: (SyncEngine) async throws(SyncError) -> Outcome
    ) async throws(SyncError) -> Outcome {
        try await store.syncing { () throws(SyncError) in
            var configuration = try store.configuration()
            if let network { configuration.network = network }
            let deadlines = deadlines.using(configuration.network)
            return try await HTTPFetcher.with(serversOf: configuration, deadlines) {
                [configuration] sources throws(SyncError) in
                var engine = SyncEngine(store: store, configuration: configuration, sources: sources, now: now)
                engine.deadlines = deadlines
                engine.retryNow = retryFailed
                return try await body(engine)
            }
        }
    }
}
