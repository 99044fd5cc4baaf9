import APIProxy
import AssetServer
import Glibc
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
/// Pages use the script of ``PageAPI`` to say that they work. A program that has no page calls ``confirm()``.
public actor PatchlineApp {
    private let device: Device
    private let app: LocalServer
    private let proxying: APIProxy.Settings?
    private let report: @Sendable (Event) -> Void
    private var proxy: RunningProxy?

    /// Makes the store on the app's first start; does nothing when there is one.
    ///
    /// - Parameters:
    ///   - store: the folder; the one above it must be there.
    ///   - server: `https://updates.example.org`
    ///   - channel: `production` unless the app says otherwise.
    ///   - root: the bytes of `root.json`, which the app carries: there is no trust on first use.
    public static func makeStore(
        _ store: String,
        server: String,
        channel: String = "production",
        root: [UInt8]
    ) throws(PatchlineError) {
        guard let url = ServerURL(server) else { throw PatchlineError("server \(ServerURL.rule)") }
        guard let channel = ChannelName(channel) else { throw PatchlineError("channel \(ChannelName.rule)") }
        do throws(SyncError) {
            try Device.create(
                DeviceStore(root: FilePath(store), files: DiskFiles()),
                server: url,
                channel: channel,
                root: root,
                machine: MachineIdentity.ofThisMachine()
            )
        } catch .storeExists {
            return
        } catch { throw PatchlineError(error) }
    }

    /// Opens a store that ``makeStore(_:server:channel:root:)`` or `patchsync init` made; nothing runs before ``start()``.
    ///
    /// - Parameter report: told what happens, from many threads.
    public init(
        store: String,
        settings: Settings = Settings(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(PatchlineError) {
        proxying = try settings.proxying
        self.report = report
        do throws(SyncError) {
            let store = DeviceStore(root: FilePath(store), files: DiskFiles())
            if let ownHost = settings.ownHost { try await store.useOwnHost(ownHost) }
            let opening = try await Device.open(
                store,
                now: { UTCTime(seconds: time(nil)) },
                machine: MachineIdentity.ofThisMachine(),
                appBuild: settings.appBuild.flatMap { AppBuild($0) }
            )
            device = opening.device
            if let trouble = opening.trouble { report(.trouble(trouble.description)) }
        } catch { throw PatchlineError(error) }
        app = LocalServer(device: device, settings: settings.own) { event in
            if let event = Event(event) { report(event) }
        }
    }

    /// Launches, and serves the active bundle on the app's own port of this machine.
    ///
    /// - Returns: the URL that the web view opens. It holds the access token: show it to nobody else.
    public func start() async throws(PatchlineError) -> String {
        if let proxying, proxy == nil { proxy = await RunningProxy(proxying, before: app, report: report) }
        do throws(LocalServerError) { return try await app.start().url } catch { throw PatchlineError(error) }
    }

    /// Returns once no answer is on its way; ``start()`` goes on with the same port, token and trial.
    ///
    /// Cookies end here: open the URL of the next ``start()`` in web views that stayed.
    ///
    /// A start that is under way ends with an error.
    public func stop() async {
        let last = proxy
        proxy = nil
        await app.stop()
        await last?.end()
    }

    /// The app is not in front: the startup timer of a new version stands still.
    public func background() async throws(PatchlineError) {
        do throws(SyncError) { try await app.background() } catch { throw PatchlineError(error) }
    }

    public func foreground() async throws(PatchlineError) {
        do throws(SyncError) { try await app.foreground() } catch { throw PatchlineError(error) }
    }

    /// The running version works: it stays.
    ///
    /// Afterwards: durable.
    public func confirm() async throws(PatchlineError) {
        do throws(SyncError) {
            let device = try device.reopened()
            guard case .trying(_, _, let launch) = try device.state().machine.state else { return }
            _ = try await device.confirm(launch.token)
        } catch { throw PatchlineError(error) }
    }

    /// Begins a sync, unless one runs or syncs are off; what it comes to is told as events.
    public func checkForUpdates() async { await app.checkForUpdates() }

    /// Starts what waits; open pages are to load again.
    public func switchToPending() async throws(PatchlineError) {
        do throws(SyncError) { try await app.startPending() } catch { throw PatchlineError(error) }
    }

    /// The online parameters of the channel, as last fetched and verified; no network.
    public var parameters: Parameters {
        get throws(PatchlineError) {
            do throws(SyncError) { return Parameters(try device.reopened().parameters()) } catch {
                throw PatchlineError(error)
            }
        }
    }

    /// The bundle versions that run and wait.
    public func status() async -> Status {
        let status = await app.status()
        return Status(current: status.current, pending: status.pending, lastSync: status.lastSync)
    }
}

extension PatchlineApp {
    public struct Settings: Sendable {
        /// Nil: the app's own, the same at every start, for cookies and storage belong to it; 0: any free one.
        public var port: Int?
        /// Whether pages are served on a host of the app's own, so that their cookies reach no other port of the machine.
        ///
        /// Nil: as the store was made; new ones so. False is for web views that do not resolve `NAME.localhost`: 127.0.0.1
        /// then (see <doc:PageAPI>). Kept in the store; the storage of pages does not move along.
        public var ownHost: Bool?
        /// Seconds between syncs; nil: only when somebody asks, and until there is a first version.
        public var syncInterval: Int?
        /// Whether it syncs at all.
        public var syncs = true
        /// Seconds between looks for online parameters, where syncs come less often; 0: only with a sync.
        public var parametersEvery = 1_800
        /// Milliseconds that a new version has to confirm.
        public var startupTimeout = 20_000
        /// From when on they go, and a launch counts against a new version.
        public var startupTimer = StartupTimer.firstPage
        /// The build of this app, where it ships a bundle.
        public var appBuild: String?
        /// Which requests of the pages go on to other servers: `/api/.*=https://api.example.com` (see <doc:Proxy>); none if
        /// nothing is said.
        public var proxyRules: [String] = []
        /// Whose certificates those servers may show, in PEM; nil for the system's authorities.
        public var proxyAuthorities: [UInt8]?

        public init() {}

        fileprivate var own: LocalServer.Settings {
            var own = LocalServer.Settings()
            own.port = port
            own.app.startupTimeout = .milliseconds(startupTimeout)
            own.app.startupTimer = startupTimer == .launch ? .launch : .firstPage
            own.updates.interval = syncInterval.map { .seconds($0) }
            own.updates.isAllowed = syncs
            own.parametersEvery = parametersEvery > 0 ? .seconds(parametersEvery) : nil
            return own
        }

        /// Nil without a rule.
        fileprivate var proxying: APIProxy.Settings? {
            get throws(PatchlineError) {
                guard !proxyRules.isEmpty else { return nil }
                guard proxyRules.count <= ProxyRules.maxRules else {
                    throw PatchlineError("there are more than \(ProxyRules.maxRules) proxy rules")
                }
                var rules: [ProxyRule] = []
                for text in proxyRules {
                    do throws(ProxyRuleError) { rules.append(try ProxyRule(argument: text)) } catch {
                        throw PatchlineError("the proxy rule '\(text)' \(error)")
                    }
                }
                do throws(UpstreamTrustError) {
                    return APIProxy.Settings(
                        rules: ProxyRules(rules),
                        trust: try UpstreamTrust(authorities: proxyAuthorities)
                    )
                } catch { throw PatchlineError("proxyAuthorities holds no certificate of an authority in PEM") }
            }
        }
    }

    /// From when on a new version has to prove itself.
    public enum StartupTimer: Sendable {
        /// From the first request for a page of it on; what ends the process before says nothing of it.
        case firstPage
        /// From the launch on: for programs that show no pages.
        case launch
    }

    /// Which versions there are.
    public struct Status: Equatable, Sendable {
        /// What new pages get; nil before the first install.
        public let current: String?
        public let pending: String?
        /// RFC 3339; nil before the first.
        public let lastSync: String?
    }

    /// What a person who looks after the app is told.
    public enum Event: Equatable, Sendable {
        case nothingInstalled
        /// This version is served; on trial until it is confirmed.
        case serving(String, onTrial: Bool)
        case confirmed(String)
        /// The version that was tried did not confirm; nil: there is none to go back to.
        case rolledBack(to: String?, from: String)
        /// The first version did not confirm in its time. It stays, for there is no other; it may confirm yet, and a newer one
        /// takes its place.
        case unproven(String)
        /// Files that are not served until a sync heals them.
        case damaged([String])
        /// A sync is over; whether something new waits.
        case synced(isNew: Bool)
        case syncFailed(String)
        /// The operator told apps something else: ``PatchlineApp/parameters``.
        case parametersChanged(Parameters)
        /// In words; what is served stays.
        case trouble(String)
    }
}

/// What went wrong, in one sentence.
public struct PatchlineError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ error: SyncError) { self.init(error.description) }

    init(_ error: LocalServerError) {
        switch error {
        case .portInUse(let port): self.init("port \(port) is taken by another program")
        case .device(let error): self.init(error)
        case .listener(let error): self.init("pages cannot be served: \(error)")
        case .alreadyStarting: self.init("the app is already starting")
        case .stopped: self.init("the app was stopped while it started")
        case .other(let text): self.init(text)
        }
    }
}

extension PatchlineApp.Event {
    fileprivate init?(_ event: LocalServer.Event) {
        func words(_ selection: Selection) -> String {
            selection.patches.map(\.label.description).joined(separator: ", ")
        }
        switch event {
        case .app(.nothingInstalled): self = .nothingInstalled
        case .app(.serving(let selection, let trial)): self = .serving(words(selection), onTrial: trial != nil)
        case .app(.confirmed(let selection)): self = .confirmed(words(selection))
        case .app(.rolledBack(let good, let bad)): self = .rolledBack(to: good.map(words), from: words(bad))
        case .app(.damaged(let files)): self = .damaged(files)
        case .app(.unproven(let selection)): self = .unproven(words(selection))
        case .app(.stateFault(let fault)): self = .trouble(fault.description)
        case .app(.trouble(let error)): self = .trouble(error.description)
        case .synced(.success(let report)):
            self = report.failures.first.map { .syncFailed($0.error.description) } ?? .synced(isNew: report.isNew)
        case .synced(.failure(let error)): self = .syncFailed(error.description)
        case .app(.parametersChanged(let parameters)): self = .parametersChanged(PatchlineApp.Parameters(parameters))
        case .parametersTrouble(let error): self = .trouble(error.description)
        case .fileTrouble(let line): self = .trouble(line)
        case .app, .portTaken: return nil
        }
    }
}
