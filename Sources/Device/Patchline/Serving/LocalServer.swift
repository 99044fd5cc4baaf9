import PatchFetch
import PatchCrypto
package import AssetServer
import FolderUploads
package import HTTPFiles
import Logging
import NIOConcurrencyHelpers
import NIOCore
package import PatchFormat
import PatchStore
package import PatchSync
import ServiceLifecycle

/// An app's pages on this device: the active bundle on the app's own port, its trial, and its updates.
///
/// ```
/// stopped ──start──▶ running ──stop──▶ stopped ──start──▶ running, on the same port and with the same token
/// ```
///
/// Each start has a new cookie. Open pages regain access with the URL that the start returns.
///
/// Stopping ends every response and every event stream in order. A trial is stopped cleanly and continues at the next start.
package actor LocalServer {
    private enum State {
        case stopped
        case starting(Start)
        case running(Address, ServiceGroup, Task<Void, any Error>)
    }

    /// A start in progress.
    ///
    /// It can be stopped before it ends.
    private final class Start {
        var isStopped = false
        /// The running services, once they exist.
        var group: ServiceGroup?
        var whenOver: [CheckedContinuation<Void, Never>] = []
    }

    private let device: Device
    private let settings: Settings
    private let assets: AssetServer
    private let app: RunningApp
    private let updates: Updates
    private let watch: ParametersWatch
    /// The deadlines of each sync.
    private let deadlines: NIOLockedValueBox<Deadlines>
    private let uploader: Uploader?
    private let token: AccessToken?
    private let host: String
    private let turnedAway = TurnedAway()
    private let report: @Sendable (DeviceEvent) -> Void
    private var state = State.stopped
    /// The services that ended, through ``stop()`` or by themselves.
    private var ended: ServiceGroup?
    /// The port of the first start.
    private var port: Int?
    private var hasLaunched = false
    /// The same port of the other loopback address, reserved while pages are served under a name.
    private var held: HeldPort?

    /// - Parameters:
    ///   - delegate: Answers requests that it accepts and for which the bundle has no file.
    ///   - sync: Runs one sync. Replaces the device's own in tests.
    ///   - report: Called with each event, from many threads.
    package init(
        device: Device,
        settings: Settings,
        delegate: (any RequestDelegate)? = nil,
        sync: Updates.Sync? = nil,
        report: @escaping @Sendable (DeviceEvent) -> Void
    ) {
        self.device = device
        self.settings = settings
        self.report = report
        var serving = settings.serving
        if !settings.isOpen { serving.access.token = device.keptAccessToken() ?? .make() }
        token = serving.access.token
        host = device.configuration.pages.text
        // The device's configuration determines the name, not the settings of this launch.
        serving.access.hosts =
            if let own = device.configuration.host?.host {
                settings.isOpen ? Access.loopbackHosts.union([own]) : [own]
            } else {
                Access.loopbackHosts
            }
        uploader = settings.uploads.map { folder in
            Uploader(folder, files: device.store.files, below: PageAPI.uploads) { report(.fileTrouble($0)) }
        }
        serving.uploads = uploader
        let assets = AssetServer(serving)
        self.assets = assets
        let limits = NIOLockedValueBox(settings.deadlines)
        deadlines = limits
        let own: Updates.RequestedSync = { (wish, report) async throws(SyncError) in
            var deadlines = limits.withLockedValue(\.self)
            // A person looks at the waiting page, so report failures early and retry soon.
            if !assets.isServing { deadlines.retries = min(deadlines.retries, 2) }
            return try await device.reopened().sync(wish, deadlines, report: report)
        }
        let gate = SyncGate()
        let faults = ParametersFaults()
        let notify: @Sendable (SyncError?) -> Void = { fault in
            if let news = faults.take(fault) { report(.parametersTrouble(news)) }
        }
        watch = ParametersWatch(every: settings.parametersInterval, age: device.timeSinceSync) {
            do throws(SyncError) {
                let update = try await gate.through { () throws(SyncError) in
                    try await device.reopened().checkParameters(limits.withLockedValue(\.self))
                }
                notify(update.fault)
            } catch .lock(.held) {
                // Another process syncs, and checks the parameters as well.
            } catch {
                if !Task.isCancelled { notify(error) }
            }
        }
        updates = Updates(
            settings.updates,
            events: assets.events,
            isInstalled: { assets.isServing },
            report: { result in
                if case .success(let done) = result { notify(done.parameters.fault) }
                report(.synced(result))
            },
            sync: { (wish, notify) async throws(SyncError) in
                try await gate.through { () async throws(SyncError) in
                    let reportAll: @Sendable (SyncEvent) -> Void = { event in
                        notify(event)
                        report(.syncing(event))
                    }
                    if let sync { return try await sync(reportAll) }
                    return try await own(wish, reportAll)
                }
            }
        )
        app = RunningApp(
            device: device,
            server: assets,
            updates: updates,
            gate: gate,
            settings: settings.app,
            turnedAway: { [turnedAway] in turnedAway.count },
            report: report
        )
        assets.connect(app)
        if let delegate { assets.delegate(to: delegate) }
    }

    /// Binds the port, launches the app, and returns once pages are served.
    ///
    /// If the port is taken, no trial is counted and the store is not changed. A server whose socket failed is started again.
    package func start() async throws(LocalServerError) -> Address {
        switch state {
        case .running(let address, let group, _) where group !== ended: return address
        case .starting: throw .alreadyStarting
        case .stopped, .running: break
        }
        let start = Start()
        state = .starting(start)
        defer { for waiting in start.whenOver { waiting.resume() } }
        do throws(LocalServerError) {
            let (address, group, task) = try await begin(on: port ?? firstPort, start)
            port = address.port
            state = .running(address, group, task)
            Task { [self] in
                _ = await task.result
                ended = group
            }
            return address
        } catch {
            state = .stopped
            held = nil
            throw start.isStopped ? .stopped : error
        }
    }

    /// Returns once all answers have ended and the port is free; a start in progress ends with `stopped`.
    package func stop() async {
        switch state {
        case .stopped: return
        case .starting(let start): await stop(start)
        case .running(_, let group, let task): await stop(group, task)
        }
    }

    private func stop(_ start: Start) async {
        start.isStopped = true
        assets.events.close()
        await withCheckedContinuation { over in
            start.whenOver.append(over)
            guard let group = start.group else { return }
            Task { await group.triggerGracefulShutdown() }
        }
    }

    private func stop(_ group: ServiceGroup, _ task: Task<Void, any Error>) async {
        assets.events.close()
        await group.triggerGracefulShutdown()
        _ = await task.result
        // Another caller may have stopped and restarted the server in the meantime.
        guard case .running(_, let current, _) = state, current === group else { return }
        state = .stopped
        held = nil
    }

    /// Sets the delegate that answers requests that it accepts and for which the bundle has no file.
    package func delegate(to delegate: any RequestDelegate) {
        assets.delegate(to: delegate)
    }

    /// Waits until the server ends, by ``stop()`` or because its socket broke.
    package func waitForEnd() async throws(LocalServerError) {
        guard case .running(_, let group, let task) = state else { return }
        let result = await task.result
        ended = group
        if case .failure(let error) = result { throw LocalServerError(error) }
    }

    /// Pauses the startup timer, because the app is in the background.
    ///
    /// The server continues.
    package func background() async throws(SyncError) { try await app.background() }

    package func foreground() async throws(SyncError) { try await app.foreground() }

    /// Begins a sync as the page API does.
    ///
    /// Returns at once.
    package func checkForUpdates() async { _ = await app.checkForUpdates() }

    /// Runs one sync after the one in progress.
    ///
    /// Waits while a trial counts.
    package func sync(_ wish: Updates.SyncRequest) async throws(SyncError) -> SyncReport {
        try await updates.sync(wish)
    }

    /// Whether a page may be open.
    package nonisolated var hasPages: Bool { assets.hasPages || assets.events.streams > 0 }

    /// Starts the pending selection as the page API does.
    ///
    /// - Parameter isRequested: Whether a person requests it. It then starts regardless of a postponement.
    package func startPending(isRequested: Bool = false) async throws(SyncError) {
        try await app.startPending(isRequested: isRequested)
    }

    /// Applies new deadlines, a new interval of online parameters and a new startup timeout at once.
    ///
    /// Nothing is interrupted. All other settings apply from the next start.
    package func adjust(_ new: Settings) async {
        deadlines.withLockedValue { $0 = new.deadlines }
        watch.change(to: new.parametersInterval)
        await app.adjust(new.app)
    }

    package func status() async -> PageStatus { await app.status() }

    package func beginScripts() async throws(SyncError) -> RunningApp.ScriptLaunch { try await app.beginScripts() }

    /// Handles a failed script as the page API does.
    package func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) async -> ScriptFailureOutcome {
        await app.scriptFailed(failure, sha256)
    }

    // MARK: Starting

    private var firstPort: Int { device.configuration.pagesPort(asked: settings.port) }

    private typealias Started = (Address, ServiceGroup, Task<Void, any Error>)

    /// Starts on this port, or on the next free one if the settings allow it.
    private func begin(on first: Int, _ start: Start) async throws(LocalServerError) -> Started {
        var (port, attempts) = (first, 0)
        while !start.isStopped {
            do throws(LocalServerError) {
                return try await begin(at: port, start)
            } catch .portInUse where port == 0 && attempts < Self.mostAttempts {
                // The port was free on 127.0.0.1 alone.
                attempts += 1
            } catch .portInUse where settings.takesNextFreePort && (1..<65_535).contains(port) {
                report(.portTaken(port, next: port + 1))
                port += 1
            }
        }
        throw .stopped
    }

    /// The number of attempts to find another free port.
    private static let mostAttempts = 16

    private func begin(at port: Int, _ start: Start) async throws(LocalServerError) -> Started {
        let (bound, whenBound) = AsyncStream.makeStream(of: Int.self)
        let (ready, whenReady) = AsyncStream.makeStream(of: Int.self)
        assets.events.open()
        let server = FileServer(
            configuration: settings.listening(at: port),
            source: assets,
            turnedAway: turnedAway,
            errorLog: { [report] in report(.fileTrouble($0)) },
            onListening: { [assets] address in
                assets.listening(on: address.port ?? port)
                whenBound.yield(address.port ?? port)
                whenBound.finish()
            }
        )
        let launch = Launch(bound: bound, updates: updates, watch: watch) { [self] port async throws in
            let app = try await launched(on: port)
            whenReady.yield(port)
            return app
        }
        if !settings.serves {
            whenBound.yield(0)
            whenBound.finish()
        }
        let group = ServiceGroup(
            services: settings.serves ? [server, launch, Heartbeat(events: assets.events)] : [launch],
            logger: Logger(label: "patchline") { _ in SwiftLogNoOpLogHandler() }
        )
        start.group = group
        let task = Task {
            defer { whenReady.finish() }
            try await group.run()
        }
        for await port in ready where !start.isStopped {
            return (Address(port: port, token: token, host: host), group, task)
        }
        if case .failure(let error) = await task.result { throw LocalServerError(error) }
        throw .stopped
    }

    /// Counts the launch after the port is bound, so that a taken port does not cost a trial.
    private func launched(on port: Int) async throws -> RunningApp {
        held = nil
        if settings.serves {
            // For such a name, browsers try [::1] first.
            if host != Address.sharedHost { held = try HeldPort(port) }
            await record(port)
        }
        await uploader?.tidy()
        if hasLaunched { try await app.foreground() } else { try await app.launch() }
        hasLaunched = true
        return app
    }

    private func record(_ port: Int) async {
        do throws(SyncError) {
            if let token { try device.keep(token) }
            guard settings.port == nil, device.configuration.port == nil else { return }
            try await device.store.changingConfiguration { configuration in configuration.port = port }
        } catch { report(.trouble(error)) }
    }
}
