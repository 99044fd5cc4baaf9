import APIProxy
import AssetServer
import Logging
import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

/// An app whose pages come from a Patchline store: the whole device side, for programs that link the library.
///
/// ```swift
/// let app = try await PatchlineApp(store: "/var/lib/shop") { event in print(event) }
/// webView.open(try await app.start())
/// // … the app goes to the background and comes back:
/// try await app.background()
/// try await app.foreground()
/// await app.stop()
/// ```
///
/// Pages confirm a version with the script of <doc:PageAPI>. A program that has no page calls ``confirm()``.
public actor PatchlineApp {
    private let device: Device
    private let app: LocalServer
    private let proxying: APIProxy.Settings?
    private let hasPages: Bool
    private let report: @Sendable (Event) -> Void
    private var proxy: RunningProxy?

    /// The app's store: pending and failed versions, rollbacks, channels.
    ///
    /// The app follows each change within 100 ms.
    public nonisolated let store: PatchlineStore

    /// Makes the store on the app's first start; does nothing when there is one.
    ///
    /// ``PatchlineStore/make(_:from:)`` takes the rest: embedded versions, mirrors, pins, facts.
    ///
    /// - Parameters:
    ///   - store: the folder; the one above it must be there.
    ///   - server: `https://updates.example.org`
    ///   - channel: `production` by default.
    ///   - root: the bytes of `root.json`, which the app carries: there is no trust on first use.
    public static func makeStore(
        _ store: String,
        server: String,
        channel: String = "production",
        root: [UInt8]
    ) throws(PatchlineError) {
        var origin = PatchlineStore.Origin(server: server, root: root)
        origin.channel = channel
        try PatchlineStore.make(store, from: origin)
    }

    /// Opens a store that ``PatchlineStore/make(_:from:)`` or `patchsync init` made; nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - path: the store's folder.
    ///   - settings: of this launch.
    ///   - report: called with each event, from many threads.
    public init(
        store path: String,
        settings: Settings = Settings(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(PatchlineError) {
        if let host = settings.host {
            try await rethrowing { () throws(SyncError) in
                try await DeviceStore(root: FilePath(given: path), files: DiskFiles()).serve(under: host.ofDevice)
            }
        }
        try await self.init(PatchlineStore(path, appBuild: settings.appBuild), settings: settings, report: report)
    }

    init(
        _ store: PatchlineStore,
        settings: Settings,
        report: @escaping @Sendable (Event) -> Void
    ) throws(PatchlineError) {
        proxying = try settings.proxying
        hasPages = settings.servesPages
        let report: @Sendable (Event) -> Void = { [logger = settings.logger] event in
            logger?.log(level: event.level, "\(event)")
            report(event)
        }
        self.report = report
        self.store = store
        device = try store.present
        if let trouble = store.trouble { report(.trouble(trouble)) }
        let progress = NIOLockedValueBox(SyncProgress())
        let waiting = NIOLockedValueBox<[PatchlineStore.PutOff]>([])
        let news = NIOLockedValueBox(DeviceEvents())
        app = LocalServer(device: device, settings: try settings.own, sync: store.appSync) { event in
            switch event {
            case .syncing(let news):
                if let percent = progress.withLockedValue({ $0.take(news) }) { report(.syncing(percent: percent)) }
            case .synced: progress.withLockedValue { $0 = SyncProgress() }
            default: break
            }
            for event in news.withLockedValue({ $0.take(event) }) {
                // The logger receives the app's own events with `report`.
                if Event(event) == nil { settings.logger?.log(level: event.level, "\(event.text)") }
                settings.patchEvents?(PatchEvent(event))
            }
            if let event = Event(event) { report(event) }
            if case .synced(.success(let outcome)) = event {
                let putOff = outcome.putOff.map(PatchlineStore.PutOff.init)
                let isNews = waiting.withLockedValue { waiting in
                    defer { waiting = putOff }
                    return waiting != putOff
                }
                if isNews, !putOff.isEmpty { report(.putOff(putOff)) }
            }
        }
    }

    /// Launches, and serves the active bundle on the app's own port of this machine.
    ///
    /// - Returns: the URL that the web view opens. It holds the access token: show it to nobody else.
    public func start() async throws(PatchlineError) -> String {
        if let proxying, proxy == nil {
            proxy = await RunningProxy(proxying, of: device, before: app, report: report)
        }
        do throws(LocalServerError) {
            let address = try await app.start()
            return hasPages ? address.url : ""
        } catch { throw PatchlineError(error) }
    }

    /// Returns once no answer is on its way; ``start()`` goes on with the same port, token and trial.
    ///
    /// Cookies end here: open the URL of the next ``start()`` in web views that stayed.
    ///
    /// A start in progress ends with an error.
    public func stop() async {
        let last = proxy
        proxy = nil
        await app.stop()
        await last?.end()
    }

    /// The app is in the background: the startup timer of a new version pauses.
    public func background() async throws(PatchlineError) {
        do throws(SyncError) { try await app.background() } catch { throw PatchlineError(error) }
    }

    public func foreground() async throws(PatchlineError) {
        do throws(SyncError) { try await app.foreground() } catch { throw PatchlineError(error) }
    }

    /// Confirms the running version: it stays.
    ///
    /// Afterwards: durable.
    public func confirm() async throws(PatchlineError) {
        try await store.confirm()
    }

    /// Begins a sync, unless one runs or syncs are off; its outcome is reported as events.
    public func checkForUpdates() async { await app.checkForUpdates() }

    /// Starts the pending selection; open pages are told to reload.
    ///
    /// - Throws: `notNow` also while it is postponed, or outside the hours of its device's owner.
    public func switchToPending() async throws(PatchlineError) {
        do throws(SyncError) { try await app.startPending() } catch { throw PatchlineError(error) }
    }

    /// The online parameters of the channel, as last fetched and verified; no network.
    public var parameters: Parameters {
        get throws(PatchlineError) { try store.parameters() }
    }

    /// The script patches that run, for hosts that evaluate them; no network.
    ///
    /// A program that runs them by itself begins with ``beginScripts()``.
    public var scripts: [PatchlineStore.Script] {
        get throws(PatchlineError) { try store.scripts() }
    }

    /// What a program runs of script patches now, in order: those for the program itself.
    ///
    /// Where a version is on trial its launch counts from now on, as with its first page: a script that ends the process is
    /// blamed at the next start. Call it before the first script runs.
    public func beginScripts() async throws(PatchlineError) -> ScriptLaunch {
        do throws(SyncError) { return ScriptLaunch(try await app.beginScripts(), store.scriptFiles) } catch {
            throw PatchlineError(error)
        }
    }

    /// A script of this launch did not work; a version on trial is taken back at once.
    ///
    /// - Parameters:
    ///   - script: one of the launch's.
    ///   - message: why, on one line; the first 500 characters count.
    ///   - line: from 1, in the script's own file; 0 where nobody knows.
    ///   - column: likewise.
    ///   - launch: the one that it ran in.
    public func scriptFailed(
        _ script: PatchlineStore.Script,
        _ message: String,
        line: Int = 0,
        column: Int = 0,
        in launch: ScriptLaunch
    ) async -> ScriptLaunch.Verdict {
        let failure = script.failure(message, line: line, column: column, launch: launch.token)
        return switch await app.scriptFailed(failure, script.digest) {
        case .told: .told
        case .rolledBack: .rolledBack
        case .unknown, .failed: .otherLaunch
        }
    }

    /// The running and pending bundle versions.
    public func status() async -> Status {
        let status = await app.status()
        return Status(current: status.current, pending: status.pending, lastSync: status.lastSync)
    }
}

extension PatchlineApp {
    /// The bundle versions of the app.
    public struct Status: Equatable, Sendable {
        /// The version that new pages get; nil before the first install.
        public let current: String?
        public let pending: String?
        /// RFC 3339; nil before the first.
        public let lastSync: String?
    }
}
