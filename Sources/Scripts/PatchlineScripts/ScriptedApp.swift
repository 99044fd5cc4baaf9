public import PatchRuntime
public import Patchline

/// An app written in Swift that runs script patches: a ``PatchHost`` that follows the active versions of its store.
///
/// ```swift
/// let shop = try await ScriptedApp(store: "/var/lib/shop", settings: settings, exposing: { host in
///     try host.expose("CartController", CartController.self) { CartController.total }
/// }) { event in print(event) }
/// try await shop.start()
/// ```
///
/// ```
/// start, or another active version   ──▶ the launch of a trial counts ──▶ each script runs, in the order of the list
///                                             all ran, and there are no pages to confirm it ──▶ confirmed
///                                             one failed ──▶ a trial is rolled back at once; the previous version's scripts run
/// ```
///
/// A launch is counted before its scripts run. A script that ends the process therefore counts as a failed launch. When a version
/// is withdrawn, the original functions are restored without a restart.
public actor ScriptedApp {
    public struct Settings: Sendable {
        /// The app's settings.
        ///
        /// ``ScriptedApp`` always sets ``PatchlineApp/Settings/runsScripts``.
        public var app: PatchlineApp.Settings
        /// The settings of the scripts' host.
        public var host: PatchHost.Settings
        /// Whether a version without a bundle is confirmed once all its scripts ran.
        ///
        /// Such a version has no page that could confirm it.
        public var confirmsByItself = true

        public init(
            app: PatchlineApp.Settings = PatchlineApp.Settings(),
            host: PatchHost.Settings = PatchHost.Settings()
        ) {
            self.app = app
            self.host = host
        }
    }

    public enum Event: Equatable, Sendable {
        case app(PatchlineApp.Event)
        /// The scripts ran. Contains the patches, each with its state.
        case ran(PatchReport)
        /// A patch failed at its start, or in a later call. `isTakenBack` is true if its version was rolled back.
        case failed(PatchFailure, isTakenBack: Bool)
    }

    private enum News: Sendable {
        case changed
        case failed(PatchFailure)
    }

    /// The host in which the patches run.
    public nonisolated let host: PatchHost
    public nonisolated let app: PatchlineApp
    private let confirmsByItself: Bool
    private let news: AsyncStream<News>
    private let whenNews: AsyncStream<News>.Continuation
    private let report: @Sendable (Event) -> Void
    private var launch: PatchlineApp.ScriptLaunch?
    private var following: Task<Void, Never>?

    /// Opens a store made by `patchsync init` or ``PatchlineStore/make(_:from:)``.
    ///
    /// Nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - path: The store's folder.
    ///   - settings: The settings of this launch.
    ///   - expose: Called once to expose the types that patches may change.
    ///   - report: Called with each event, from many threads.
    public init(
        store path: String,
        settings: Settings = Settings(),
        exposing expose: @Sendable (PatchHost) throws -> Void,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws {
        let (news, whenNews) = AsyncStream.makeStream(of: News.self)
        (self.news, self.whenNews, self.report) = (news, whenNews, report)
        confirmsByItself = settings.confirmsByItself
        var own = settings.host
        own.failed = { [failed = own.failed] failure in
            failed(failure)
            whenNews.yield(.failed(failure))
        }
        host = PatchHost(own)
        try expose(host)
        var appSettings = settings.app
        appSettings.runsScripts = true
        app = try await PatchlineApp(store: path, settings: appSettings) { event in
            report(.app(event))
            if event.changesRunningVersion { whenNews.yield(.changed) }
        }
    }

    /// Launches the app, runs its scripts, and serves its pages if there are any.
    ///
    /// - Returns: The URL for the web view, or an empty string if the app serves no pages.
    @discardableResult
    public func start() async throws(PatchlineError) -> String {
        let url = try await app.start()
        await run()
        if following == nil {
            following = Task { [news] in for await one in news { await take(one) } }
        }
        return url
    }

    /// Stops the app.
    ///
    /// Patched functions stay patched.
    ///
    /// Returns once all responses have ended and changes are no longer followed.
    public func stop() async {
        await app.stop()
        following?.cancel()
        await following?.value
        following = nil
        launch = nil
    }

    private func take(_ news: News) async {
        switch news {
        case .changed: await run()
        case .failed(let failure): await handle(failure)
        }
    }

    /// Runs the scripts of the active versions, unless this launch has already run them.
    private func run() async {
        let launch: PatchlineApp.ScriptLaunch
        do throws(PatchlineError) { launch = try await app.beginScripts() } catch {
            return report(.app(.trouble("\(error)")))
        }
        guard launch != self.launch else { return }
        self.launch = launch
        let states = (try? app.store.status().patches) ?? []
        let done = host.run(launch.scripts.map { PatchScript($0, states) })
        report(.ran(done))
        guard confirmsByItself, !launch.hasBundle, let trial = launch.trial,
            done.rows.allSatisfy({ $0.state == .installed })
        else { return }
        do throws(PatchlineError) { try await app.store.confirm(launch: trial) } catch {
            report(.app(.trouble("\(error)")))
        }
    }

    /// Reports a failed script, which rolls back its version if that is on trial.
    ///
    /// A damaged file does not count against its version.
    private func handle(_ failure: PatchFailure) async {
        guard let launch, failure.isScriptFault,
            let script = launch.scripts.first(where: {
                $0.version.patch == failure.patch && $0.version.version == failure.version
            })
        else { return report(.failed(failure, isTakenBack: false)) }
        let verdict = await app.scriptFailed(
            script,
            failure.message,
            line: failure.line ?? 0,
            column: failure.column ?? 0,
            in: launch
        )
        report(.failed(failure, isTakenBack: verdict == .rolledBack))
    }
}

extension PatchlineApp.Event {
    fileprivate var changesRunningVersion: Bool {
        switch self {
        case .nothingInstalled, .serving, .rolledBack, .withdrawn, .following, .damaged: true
        case .confirmed, .unproven, .superseded, .syncing, .synced, .putOff, .syncFailed, .parametersChanged, .trouble:
            false
        }
    }
}

extension PatchFailure {
    fileprivate var isScriptFault: Bool {
        switch kind {
        case .missing, .altered: false
        case .notUTF8, .tooLarge, .syntax, .thrown, .timeLimit, .memoryLimit, .wrongResult: true
        }
    }
}

extension PatchScript {
    /// Reads a script from the store, and verifies it against its signed digest.
    fileprivate init(_ script: PatchlineStore.Script, _ states: [PatchlineStore.Patch]) {
        let content: Content
        if script.file != nil, let text = try? script.source() {
            content = .bytes(Array(text.utf8))
        } else {
            let state = states.first { $0.version == script.version && !$0.isPending }?.state
            content = state == .fileMissing ? .missing : .altered
        }
        self.init(id: script.version.patch, version: script.version.version, content: content)
    }
}
