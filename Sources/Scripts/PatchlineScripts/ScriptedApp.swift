public import PatchRuntime
public import Patchline

/// An app written in Swift whose script patches run: a ``PatchHost`` that follows what its store has active.
///
/// ```swift
/// let shop = try await ScriptedApp(store: "/var/lib/shop", settings: settings, exposing: { host in
///     try host.expose("CartController", CartController.self) { CartController.total }
/// }) { event in print(event) }
/// try await shop.start()
/// ```
///
/// ```
/// start, or something else is active ──▶ the launch of a trial counts ──▶ each script runs, in the order of the list
///                                             all ran, and no page is to be waited for ──▶ confirmed
///                                             one failed ──▶ a trial is taken back at once; the scripts before it run
/// ```
///
/// A script that ends the process is blamed at the next starts: the launch was counted before it ran. What is withdrawn gives
/// the originals back without a new start.
public actor ScriptedApp {
    public struct Settings: Sendable {
        /// Of the app; that it runs scripts is set here.
        public var app: PatchlineApp.Settings
        /// Of the scripts' host.
        public var host: PatchHost.Settings
        /// Whether a version without a bundle is confirmed once its scripts ran: nobody else could say that it works.
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
        /// These are the patches now, each with its state.
        case ran(PatchReport)
        /// A patch failed as it began, or in a later call; whether its version was taken back for it.
        case failed(PatchFailure, isTakenBack: Bool)
    }

    private enum News: Sendable {
        case changed
        case failed(PatchFailure)
    }

    /// What its patches run in.
    public nonisolated let host: PatchHost
    public nonisolated let app: PatchlineApp
    private let confirmsByItself: Bool
    private let news: AsyncStream<News>
    private let whenNews: AsyncStream<News>.Continuation
    private let report: @Sendable (Event) -> Void
    private var launch: PatchlineApp.ScriptLaunch?
    private var following: Task<Void, Never>?

    /// Opens a store that `patchsync init` or ``PatchlineStore/make(_:from:)`` made; nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - expose: says once which types patches may change.
    ///   - report: called with each event, from many threads.
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
            if event.changesWhatRuns { whenNews.yield(.changed) }
        }
    }

    /// Launches, runs the scripts that are there, and serves the pages, if there are any.
    ///
    /// - Returns: the URL that the web view opens; empty where the app serves none.
    @discardableResult
    public func start() async throws(PatchlineError) -> String {
        let url = try await app.start()
        await run()
        if following == nil {
            following = Task { [news] in for await one in news { await take(one) } }
        }
        return url
    }

    /// Returns once no answer is on its way and no change is followed any more.
    ///
    /// What is patched stays so.
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
        case .failed(let failure): await tell(failure)
        }
    }

    /// Runs the scripts of what is active, unless these very ones were tried.
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

    /// Blames the script's version for it, where it is on trial; a file that is damaged says nothing of its version.
    private func tell(_ failure: PatchFailure) async {
        guard let launch, failure.isOfTheScript,
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
    fileprivate var changesWhatRuns: Bool {
        switch self {
        case .nothingInstalled, .serving, .rolledBack, .withdrawn, .following, .damaged: true
        case .confirmed, .unproven, .superseded, .syncing, .synced, .putOff, .syncFailed, .parametersChanged, .trouble:
            false
        }
    }
}

extension PatchFailure {
    fileprivate var isOfTheScript: Bool {
        switch kind {
        case .missing, .altered: false
        case .notUTF8, .tooLarge, .syntax, .thrown, .timeLimit, .memoryLimit, .wrongResult: true
        }
    }
}

extension PatchScript {
    /// A script as the store has it: compared with its signed digest as it is read.
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
