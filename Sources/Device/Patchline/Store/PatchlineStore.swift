import Glibc
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import ReleaseFolder
import SystemPackage

/// A device's store: what `patchsync` does to it, for programs that link the library.
///
/// ```swift
/// let store = try await PatchlineStore("/var/lib/shop")
/// try await store.configure { settings in
///     settings.appVersion = "2.1"
///     settings.data["region"] = "eu"
/// }
/// let result = try await store.sync { progress in print(progress) }
/// if case .staged = result.staging { showBanner() }
/// ```
///
/// Each call reads the store anew, and its changes are durable when it returns. Several processes may use one store;
/// one at a time runs ``sync(_:report:)``. A ``PatchlineApp`` on the store follows changes made here within 100 ms; to
/// change something that its pages must know, use ``PatchlineApp/store``.
public struct PatchlineStore: Sendable {
    typealias Syncing =
        @Sendable (Device, SyncOptions, @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncReport

    typealias Forecasting = @Sendable (Device, SyncOptions) async throws(SyncError) -> SyncForecast

    private let device: Device
    /// Replaces the device's own sync in tests.
    private let substitute: Syncing?
    /// Replaces the device's own look at the cost of one in tests.
    let forecasting: Forecasting?

    /// Why the store could not be brought to this build or machine when it was opened, in words; the next opening tries
    /// again, and the installed versions run.
    public let trouble: String?

    /// Opens a store that ``make(_:from:)`` or `patchsync init` made.
    ///
    /// On another machine the device gets a new id; for another build of the app it starts over from the embedded
    /// versions.
    ///
    /// - Parameters:
    ///   - path: the store's folder; a relative one lies below the working directory.
    ///   - appBuild: the build of this app, where it ships versions (`patchsign embed`).
    /// - Throws: `noStore` where there is none.
    public init(_ path: String, appBuild: String? = nil) async throws(PatchlineError) {
        let build = try appBuild.map { text throws(PatchlineError) in try Self.parsed(text, "appBuild") as AppBuild }
        let store = DeviceStore(root: FilePath(given: path), files: DiskFiles())
        let opening = try await rethrowing { () throws(SyncError) in
            try await Device.open(
                store,
                now: { UTCTime(seconds: time(nil)) },
                machine: MachineIdentity.ofThisMachine(),
                appBuild: build
            )
        }
        self.init(opening.device, trouble: opening.trouble)
    }

    init(
        _ device: Device,
        trouble: SyncError? = nil,
        forecasting: Forecasting? = nil,
        substitute: Syncing? = nil
    ) {
        self.forecasting = forecasting
        self.device = device
        self.trouble = trouble?.description
        self.substitute = substitute
    }

    /// The folder.
    public var path: String { device.store.root.string }

    var scriptFiles: any FileOperations { device.store.files }

    /// The device, read anew from its files.
    var present: Device {
        get throws(PatchlineError) { try rethrown { () throws(SyncError) in try device.reopened() } }
    }

    // MARK: Look

    /// The versions that run, wait, failed or are held back, as `patchsync status` shows them; no network.
    public func status() throws(PatchlineError) -> Status {
        let device = try present
        return try rethrown { () throws(SyncError) in Status(try device.status(), of: device) }
    }

    /// The script patches that run; no network.
    public func scripts() throws(PatchlineError) -> [Script] {
        let device = try present
        return try rethrown { () throws(SyncError) in
            try device.scripts().filter { !$0.isPending }.sorted { $0.patch.turn < $1.patch.turn }
                .map { Script($0, files: device.store.files) }
        }
    }

    /// The online parameters of the channel, as last fetched and verified; no network.
    public func parameters() throws(PatchlineError) -> PatchlineApp.Parameters {
        let device = try present
        return PatchlineApp.Parameters(try rethrown { () throws(SyncError) in try device.parameters() })
    }

    // MARK: Change

    /// Fetches, verifies and stages the channel's release; running versions are not touched.
    ///
    /// Cancelling its task stops it; received bytes stay, and the next sync resumes there.
    ///
    /// - Parameters:
    ///   - options: its limits, and the wishes of a person.
    ///   - report: called with the progress, from many threads.
    /// - Throws: `network`, `refused`, `malformed`, `disk`, `busy` or `cancelled`, when nothing of the channel could be
    ///   judged. The result has the single patches that failed.
    @discardableResult
    public func sync(
        _ options: SyncOptions = SyncOptions(),
        report: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws(PatchlineError) -> SyncResult {
        let (device, teller) = (try present, ProgressTeller(report))
        let report = try await rethrowing { () throws(SyncError) in
            if let substitute { return try await substitute(device, options) { teller.take($0) } }
            return try await device.sync(
                options.limits.deadlines,
                retryFailed: options.retriesFailed,
                network: device.configuration.network.with(options.metering)
            ) {
                teller.take($0)
            }
        }
        return SyncResult(report)
    }

    /// The sync of a running app, where a test replaces it.
    var appSync: Updates.Sync? {
        guard let substitute else { return nil }
        return { @Sendable [device] (report) async throws(SyncError) in
            try await substitute(try device.reopened(), SyncOptions(), report)
        }
    }

    /// Goes back to the selection confirmed before, else to the embedded one, and blocks the versions that differ for
    /// 14 days.
    ///
    /// - Returns: the selection that runs from now on.
    /// - Throws: `nothingThere` when there is nothing to go back to.
    @discardableResult
    public func rollBack() async throws(PatchlineError) -> [Version] {
        let device = try present
        let running = try await rethrowing { () throws(SyncError) in
            _ = try await device.rollBack()
            return try device.state().machine.state.running
        }
        return running?.patches.map { Version($0.label) } ?? []
    }

    /// Forgets failures and manual rollbacks of versions: the next sync takes them again.
    ///
    /// - Parameter patches: only these ids; nil for all.
    /// - Returns: the versions that were blocked or waiting.
    @discardableResult
    public func unblock(_ patches: [String]? = nil) async throws(PatchlineError) -> [Version] {
        var ids: Set<PatchID>?
        if let patches {
            var parsed: Set<PatchID> = []
            for text in patches { parsed.insert(try Self.parsed(text, "the patch id '\(text)'")) }
            ids = parsed
        }
        let device = try present
        let forgotten = try await rethrowing { [ids] () throws(SyncError) in
            try await device.forgetFailures(of: ids)
        }
        return (forgotten.labels + forgotten.unlisted).map(Version.init)
    }

    /// Follows another channel, another server, or both, from the next sync on.
    ///
    /// Running versions keep running until the new channel has a confirmed selection. Trust stays: a list older than
    /// the known one is refused, whichever server sends it.
    ///
    /// - Throws: `notNow` while no selection was ever confirmed and the first version is on trial.
    public func follow(channel: String? = nil, server: String? = nil) async throws(PatchlineError) {
        let name = try channel.map { text throws(PatchlineError) in try Self.parsed(text, "channel") as ChannelName }
        let url = try server.map { text throws(PatchlineError) in
            guard let url = ServerURL(text) else { throw PatchlineError("server \(ServerURL.rule)") }
            return url
        }
        let device = try present
        _ = try await rethrowing { () throws(SyncError) in try await device.following(channel: name, server: url) }
    }

    /// Confirms the launch on trial: its selection stays.
    ///
    /// - Parameter launch: its token, so that a late confirmation of another launch is ignored; nil confirms any.
    /// - Returns: false, with nothing changed, when nothing is on trial or another launch is.
    @discardableResult
    public func confirm(launch: String? = nil) async throws(PatchlineError) -> Bool {
        let given = try launch.map { text throws(PatchlineError) in
            guard let token = LaunchToken(text) else { throw PatchlineError("launch must be 32 lowercase hex digits") }
            return token
        }
        let device = try present
        return try await rethrowing { () throws(SyncError) in
            var token = given
            if token == nil, case .trying(_, _, let launch) = try device.state().machine.state { token = launch.token }
            guard let token else { return false }
            return switch try await device.confirm(token) {
            case .confirmed, .alreadyConfirmed: true
            case .otherLaunch, .nothingOnTrial, .nothingToConfirm: false
            }
        }
    }

    // MARK: Settings

    /// The facts that rules are judged by, and how servers are reached.
    public var settings: Settings {
        get throws(PatchlineError) { Settings(try present.configuration) }
    }

    /// Changes the facts that rules are judged by, or how servers are reached; the next sync uses them.
    ///
    /// - Parameter change: edits the present settings; it may be called with the store locked, and must do nothing
    ///   else.
    /// - Returns: the settings afterwards.
    /// - Throws: `invalid`, naming the setting and its rule, with nothing changed.
    @discardableResult
    public func configure(_ change: (inout Settings) -> Void) async throws(PatchlineError) -> Settings {
        let store = try present.store
        var fault: PatchlineError?
        let configuration = try await rethrowing { () throws(SyncError) in
            try await store.changingConfiguration { configuration throws(SyncError) in
                var settings = Settings(configuration)
                change(&settings)
                do throws(PatchlineError) { configuration = try settings.applied(to: configuration) } catch {
                    fault = error
                }
            }
        }
        if let fault { throw fault }
        return Settings(configuration)
    }

    static func parsed<Name: ParsedName>(_ text: String, _ what: String) throws(PatchlineError) -> Name {
        guard let name = Name(text) else { throw PatchlineError("\(what) \(Name.rule)") }
        return name
    }
}
