package import AssetServer
package import GatewayClients
package import Gateways
import Glibc
import HTTPFiles
import Logging
import NIOConcurrencyHelpers
import NIOCore
package import PatchChoice
import PatchFetch
package import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import ServiceLifecycle
package import SystemPackage

/// A Meteor app on this device that still follows its Meteor server: pages on the app's own port, versions by the server's
/// manifest, a trial of each version, and rollback.
///
/// Its versions are not signed. The folder is separate, so Patchline's trust and state are not affected.
package actor MeteorServer {
    package struct Settings: Sendable {
        /// The time in which a version must report that it started.
        package var startupTimeout = Duration.seconds(20)
        /// The time between checks; nil to check only when a page asks.
        package var interval: Duration?
        package var port: Int?
        /// Whether pages have a host of their own.
        ///
        /// If false, they are served on 127.0.0.1, where other programs receive their cookies too.
        package var hasOwnHost = true
        /// The largest download of one version, in bytes.
        package var downloadLimit = Limits.meteorDownload
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        package var now: @Sendable () -> UTCTime = { UTCTime(seconds: time(nil)) }

        package init() {}
    }

    package enum Event: Equatable, Sendable {
        case serving(String, onTrial: Bool)
        case confirmed(String)
        case rolledBack(to: String, from: String, because: Setback)
        /// A version is downloaded and pending.
        case ready(String, downloaded: Int)
        case nothingNew(String)
        case trouble(String)
    }

    private let root: ServerURL
    private let client: MeteorClient
    private let settings: Settings
    private let app: AppID
    private let token = AccessToken.make()
    private let host: String
    private let report: @Sendable (Event) -> Void
    nonisolated let assets: AssetServer
    private var record: MeteorRecord
    private var served: MeteorBundle?
    private var launch: LaunchToken?
    private var trial: Task<Void, Never>?
    /// The first error of the trial's pages.
    private var firstError: PageError?
    private var isChecking = false
    /// When the server last answered.
    private var lastAnswer: UTCTime?

    /// Opens the folder.
    ///
    /// Starts over if the app's build has changed.
    ///
    /// - Parameters:
    ///   - root: The app's `ROOT_URL`.
    ///   - folder: The folder that stores versions.
    ///   - bundle: The embedded app, `www/application`, with its `index.html` and `program.json`.
    ///   - compatibility: The compatibility version of the native part. Nil for that of the embedded app.
    package init(
        root: ServerURL,
        folder: FilePath,
        bundle: FilePath,
        platform: MeteorManifest.Platform,
        compatibility: String? = nil,
        settings: Settings = Settings(),
        report: @escaping @Sendable (Event) -> Void
    ) throws(MeteorClientError) {
        let versions = MeteorFolder(folder, platform: platform, files: DiskFiles())
        let initial = try MeteorFolder.initial(at: bundle, platform: platform, files: DiskFiles())
        guard let appID = try initial.config().appID else { throw .meteor(.noAppID) }
        let version = initial.manifest.version
        let known = try versions.record()
        if known?.initial != version { try versions.forget() }
        let held = Set(try versions.held().map(\.manifest.version))
        var record = known?.launched(initial: version, holding: held) ?? MeteorRecord(initial: version)
        // The host must not change, because cookies and storage belong to it.
        let label = record.host.flatMap { HostLabel($0) } ?? .make()
        record.host = label.text
        self.record = record
        try versions.write(record)
        app = AppID(appID) ?? Self.unnamed
        (self.root, self.settings, self.report) = (root, settings, report)
        client = MeteorClient(versions, initial: initial, compatibility: compatibility, limit: settings.downloadLimit)
        host = settings.hasOwnHost ? label.host : LocalServer.Address.sharedHost
        let name = settings.hasOwnHost ? ServedName.own(label.host) : .shared
        var serving = AssetServer.Settings(access: Access(token: token, under: name))
        serving.www = Self.www(around: bundle)
        assets = AssetServer(serving)
    }

    /// The folder with the native part's own files: cordova.js and plugins.
    ///
    /// Nil unless the folders are Cordova's, because other folders may contain unrelated files.
    private static func www(around bundle: FilePath) -> FilePath? {
        let www = bundle.removingLastComponent()
        return bundle.lastComponent?.string == "application" && www.lastComponent?.string == "www" ? www : nil
    }

    private static var unnamed: AppID {
        guard let app = AppID("meteor") else { preconditionFailure("a name of letters is an app's") }
        return app
    }

    /// Serves until the task is cancelled or the service group stops.
    ///
    /// - Parameter onListening: Called once pages are served.
    package func run(onListening: @escaping @Sendable (LocalServer.Address) -> Void) async throws {
        assets.connect(self)
        try serveCurrent()
        let port = settings.port ?? StablePort.port(for: app)
        var configuration = FileServerConfiguration(host: "127.0.0.1", port: port)
        configuration.maxBodyBytes = 4 * 1024
        configuration.sharing = .byUser(strangers: LocalServer.Settings().strangersOfOtherUsers)
        let (bound, whenBound) = AsyncStream.makeStream(of: Int.self)
        let server = FileServer(
            configuration: configuration,
            source: assets,
            onListening: { [assets] address in
                assets.listening(on: address.port ?? port)
                whenBound.yield(address.port ?? port)
                whenBound.finish()
            }
        )
        let hold = Hold(bound: bound, isWanted: settings.hasOwnHost) { [token, host] port in
            onListening(LocalServer.Address(port: port, token: token, host: host))
        }
        let group = ServiceGroup(
            services: [
                server, hold, Heartbeat(events: assets.events), PeriodicChecks(server: self, settings: settings),
            ],
            logger: Logger(label: "patchline") { _ in SwiftLogNoOpLogHandler() }
        )
        defer { trial?.cancel() }
        do {
            try await withTaskCancellationHandler {
                try await group.run()
            } onCancel: {
                Task { await group.triggerGracefulShutdown() }
            }
        } catch { throw LocalServerError(error) }
    }

    /// Reserves the same port on `[::1]`, so that no other program answers there: browsers try that address first for a host name.
    private struct Hold: Service {
        let bound: AsyncStream<Int>
        let isWanted: Bool
        let held: @Sendable (Int) -> Void

        func run() async throws {
            try await cancelWhenGracefulShutdown {
                for await port in bound {
                    let own = isWanted ? try HeldPort(port) : nil
                    held(port)
                    let (never, _) = AsyncStream.makeStream(of: Never.self)
                    for await _ in never {}
                    withExtendedLifetime(own) {}
                }
            }
        }
    }

    /// Checks the server at the configured interval, if there is one.
    private struct PeriodicChecks: Service {
        let server: MeteorServer
        let settings: Settings

        func run() async {
            await cancelWhenGracefulShutdown {
                repeat {
                    if settings.interval != nil { await server.look() }
                } while (try? await settings.sleep(settings.interval ?? .seconds(86_400))) != nil
            }
        }
    }

    // MARK: Active version

    /// Serves the current version.
    ///
    /// If its files are damaged, serves the last good version, and finally the embedded one.
    private func serveCurrent() throws(MeteorClientError) {
        while true {
            do throws(MeteorClientError) { return try serve(record.current) } catch {
                report(.trouble(error.description))
                let held = Set(try client.folder.held().map(\.manifest.version))
                guard record.abandon(holding: held) else { throw error }
                try client.folder.write(record)
            }
        }
    }

    private func serve(_ version: String) throws(MeteorClientError) {
        guard let held = try client.held(version) else { throw .meteor(.noVersion) }
        let bundle = try MeteorBundle(held, embedded: client.initial, app: app)
        endTimer()
        launch = record.isOnTrial ? LaunchToken.make() : nil
        firstError = nil
        served = bundle
        show()
        report(.serving(version, onTrial: launch != nil))
    }

    /// Sets the version that new pages receive, and the launch that they belong to.
    private func show() {
        guard let served else { return }
        assets.serve(
            ServedSelection(
                table: AssetTable(served.index, files: served, tags: served.tags),
                launch: launch?.text,
                version: record.current,
                awaitsPage: launch != nil
            )
        )
    }

    private func endTimer() {
        trial?.cancel()
        trial = nil
    }

    /// Ends a trial that was not confirmed in time.
    private func endTrial(_ over: LaunchToken) {
        guard launch == over else { return }
        let bad = record.current
        do throws(MeteorClientError) {
            var next = record
            guard next.fail(holding: Set(try client.folder.held().map(\.manifest.version))) else { return }
            try client.folder.write(next)
            record = next
            report(.rolledBack(to: record.current, from: bad, because: Setback(reason: .timer, error: firstError)))
            try serveCurrent()
            assets.events.notify(.reload)
        } catch { report(.trouble(error.description)) }
    }

    // MARK: Versions

    /// Checks the server once, unless a check is running.
    package func look() async {
        guard !isChecking else { return }
        isChecking = true
        defer { isChecking = false }
        assets.events.notify(.checking)
        do throws(MeteorClientError) {
            let (client, record) = (client, record)
            let outcome = try await MeteorClient.fetching(from: root) { fetcher throws(MeteorClientError) in
                try await client.check(record, from: fetcher, trying: RetryTiming())
            }
            lastAnswer = settings.now()
            switch outcome {
            case .ignored(let version):
                assets.events.notify(.checked(isNew: false))
                report(.nothingNew(version))
            case .ready(let version, let downloaded):
                var next = self.record
                next.take(version)
                try client.folder.write(next)
                self.record = next
                // Otherwise a version that never started would stay for good, and each later one as well.
                client.folder.keep(only: next.needed)
                assets.events.notify(.ready(version: version))
                assets.events.notify(.checked(isNew: true))
                report(.ready(version, downloaded: downloaded))
            }
        } catch {
            assets.events.notify(.failed(error.description))
            report(.trouble(error.description))
        }
    }
}

/// Implements the calls of a Meteor page: `WebAppLocalServer` over the page API.
extension MeteorServer: PageHost {
    /// Starts the trial's timer at its first page.
    ///
    /// A trial without pages has no timer.
    package func pageShown(_ asked: String) {
        assets.opened(asked)
        guard let launch, launch.text == asked, trial == nil else { return }
        trial = Task { [settings] in
            guard (try? await settings.sleep(settings.startupTimeout)) != nil else { return }
            self.endTrial(launch)
        }
    }

    /// `startupDidComplete`.
    package func confirm(_ token: String) -> ReadyOutcome {
        if let launch, launch.text != token { return .otherLaunch }
        let wasOnTrial = launch != nil
        var next = record
        next.confirm()
        do throws(MeteorClientError) { if next != record { try client.folder.write(next) } } catch { return .failed }
        (record, launch) = (next, nil)
        endTimer()
        if wasOnTrial { show() }
        client.folder.keep(only: record.needed)
        guard wasOnTrial else { return .alreadyConfirmed }
        report(.confirmed(record.current))
        return .confirmed
    }

    package func pageFailed(_ error: PageError, in asked: String) {
        if launch?.text == asked, firstError == nil { firstError = error }
    }

    package func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) -> ScriptFailureOutcome { .unknown }

    /// `switchToPendingVersion`.
    package func switchToPending() -> Switching {
        do throws(MeteorClientError) {
            var next = record
            do throws(MeteorError) { try next.switchToPending() } catch { throw .meteor(error) }
            try client.folder.write(next)
            record = next
            try serveCurrent()
            return .switched
        } catch { return .refused(error.description) }
    }

    /// `checkForUpdates`.
    package func checkForUpdates() -> CheckStart {
        guard !isChecking else { return .alreadyRunning }
        Task { await look() }
        return .started
    }

    package func status() -> PageStatus {
        var status = PageStatus(app: app.text, channel: Self.channel)
        (status.current, status.pending) = (record.current, record.pending)
        status.lastSync = lastAnswer?.description
        return status
    }

    /// The channel name in every status.
    ///
    /// It shows that versions are not signed.
    private static let channel = "meteor, unsigned"

    package func parameters() -> PageParameters { PageParameters(channel: Self.channel, values: [:]) }

    package func debugReport() -> JSON {
        var told = record
        // The host name is a secret, like the token.
        told.host = nil
        return .fields([
            ("app", .text(app.text)), ("rootUrl", .text(root.text)), ("signed", .bool(false)), ("record", told.json),
        ])
    }
}
