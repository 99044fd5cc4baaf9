import APIProxy
import AssetServer
import Logging
import NIOConcurrencyHelpers
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

/// An app whose pages are served from a Patchline store: the complete device side, for programs that link the library.
///
/// ```swift
/// let app = try await PatchlineApp(store: "/var/lib/shop") { event in print(event) }
/// webView.open(try await app.start())
/// // … the app moves to the background and returns:
/// try await app.background()
/// try await app.foreground()
/// await app.stop()
/// ```
///
/// Pages confirm a version with the script of <doc:PageAPI>. A program without pages calls ``confirm()``.
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

    /// Creates the store on the app's first start.
    ///
    /// Does nothing if the store exists.
    ///
    /// Use ``PatchlineStore/make(_:from:)`` for further settings: embedded versions, mirrors, pins, facts.
    ///
    /// - Parameters:
    ///   - store: The store's folder. Its parent folder must exist.
    ///   - server: The server's URL, such as `https://updates.example.org`.
    ///   - channel: The channel's name, `production` by default.
    ///   - root: The bytes of `root.json`, which the app embeds. There is no trust on first use.
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

    /// Opens a store made by ``PatchlineStore/make(_:from:)`` or `patchsync init`.
    ///
    /// Nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - path: The store's folder.
    ///   - settings: The settings of this launch.
    ///   - report: Called with each event, from many threads.
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
                // `report` already receives the app's own events, so that only the others are logged here.
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

    /// Launches the app, and serves the active bundle on the app's own port of this machine.
    ///
    /// - Returns: The URL for the web view. It contains the access token, so do not share it.
    public func start() async throws(PatchlineError) -> String {
        if let proxying, proxy == nil {
            proxy = await RunningProxy(proxying, of: device, before: app, report: report)
        }
        do throws(LocalServerError) {
            let address = try await app.start()
            return hasPages ? address.url : ""
        } catch { throw PatchlineError(error) }
    }

    /// Stops the app.
    ///
    /// Returns once all responses have ended. ``start()`` resumes with the same port, token and trial.
    ///
    /// Cookies become invalid: web views that stay open must open the URL that the next ``start()`` returns.
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

    /// Confirms the running version, so that it stays.
    ///
    /// The confirmation is durable when this returns.
    public func confirm() async throws(PatchlineError) {
        try await store.confirm()
    }

    /// Begins a sync, unless one runs or syncs are off.
    ///
    /// The outcome is reported as events.
    public func checkForUpdates() async { await app.checkForUpdates() }

    /// Starts the pending selection, and reloads open pages.
    ///
    /// - Throws: `notNow` if the selection must not start now, for example during a postponement or outside the device owner's
    ///   maintenance windows.
    public func switchToPending() async throws(PatchlineError) {
        do throws(SyncError) { try await app.startPending() } catch { throw PatchlineError(error) }
    }

    /// The channel's online parameters, as last fetched and verified.
    ///
    /// Does not use the network.
    public var parameters: Parameters {
        get throws(PatchlineError) { try store.parameters() }
    }

    /// The running script patches, for hosts that evaluate them.
    ///
    /// Does not use the network.
    ///
    /// A program that runs scripts itself calls ``beginScripts()`` instead.
    public var scripts: [PatchlineStore.Script] {
        get throws(PatchlineError) { try store.scripts() }
    }

    /// Returns the scripts that the program must run now, in order.
    ///
    /// Contains only the scripts for the program itself.
    ///
    /// Call it before the first script runs. If a version is on trial, its launch counts from now on, as with its first page. If a
    /// script ends the process, the next start counts that against the version.
    public func beginScripts() async throws(PatchlineError) -> ScriptLaunch {
        do throws(SyncError) { return ScriptLaunch(try await app.beginScripts(), store.scriptFiles) } catch {
            throw PatchlineError(error)
        }
    }

    /// Reports that a script of this launch failed.
    ///
    /// A version on trial is rolled back at once.
    ///
    /// - Parameters:
    ///   - script: A script of the launch.
    ///   - message: The error on one line. The first 500 characters are kept.
    ///   - line: The line in the script's own file, from 1. 0 if unknown.
    ///   - column: The column, from 1. 0 if unknown.
    ///   - launch: The launch in which the script ran.
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
        /// The version that new pages receive, or nil before the first install.
        public let current: String?
        public let pending: String?
        /// The time of the last sync (RFC 3339), or nil before the first.
        public let lastSync: String?
    }
}
