import Glibc
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import ReleaseFolder
import SystemPackage

/// A device's store, with the functions of `patchsync` for programs that link the library.
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
/// Each call reads the store again, and its changes are durable when it returns. Several processes may use one store, but only one
/// at a time runs ``sync(_:report:)``. A ``PatchlineApp`` on the store follows changes made here within 100 ms. Use
/// ``PatchlineApp/store`` for changes that its pages must know.
public struct PatchlineStore: Sendable {
    typealias Syncing =
        @Sendable (Device, SyncOptions, @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncReport

    typealias Forecasting = @Sendable (Device, SyncOptions) async throws(SyncError) -> SyncForecast

    private let device: Device
    /// Replaces the device's own sync in tests.
    private let substitute: Syncing?
    /// Replaces the device's own cost estimate in tests.
    let forecasting: Forecasting?

    /// The reason why the store could not be adapted to this build or machine when it was opened, in words.
    ///
    /// The next opening tries again. The installed versions still run.
    public let trouble: String?

    /// Opens a store made by ``make(_:from:)`` or `patchsync init`.
    ///
    /// On another machine the device receives a new id. For another build of the app it starts over from the embedded versions.
    ///
    /// - Parameters:
    ///   - path: The store's folder. A relative path is resolved against the working directory.
    ///   - appBuild: The build of this app, if it embeds versions (`patchsign embed`).
    /// - Throws: `noStore` if the folder does not contain a store.
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

    /// The path of the store's folder.
    public var path: String { device.store.root.string }

    var scriptFiles: any FileOperations { device.store.files }

    /// The device, read again from its files.
    var present: Device {
        get throws(PatchlineError) { try rethrown { () throws(SyncError) in try device.reopened() } }
    }

    // MARK: Look

    /// Returns the running, pending, failed and deferred versions, as `patchsync status` shows them.
    ///
    /// Does not use the network.
    public func status() throws(PatchlineError) -> Status {
        let device = try present
        return try rethrown { () throws(SyncError) in Status(try device.status(), of: device) }
    }

    /// Returns the running script patches.
    ///
    /// Does not use the network.
    public func scripts() throws(PatchlineError) -> [Script] {
        let device = try present
        return try rethrown { () throws(SyncError) in
            try device.scripts().filter { !$0.isPending }.sorted { $0.patch.turn < $1.patch.turn }
                .map { Script($0, files: device.store.files) }
        }
    }

    /// Returns the channel's online parameters, as last fetched and verified.
    ///
    /// Does not use the network.
    public func parameters() throws(PatchlineError) -> PatchlineApp.Parameters {
        let device = try present
        return PatchlineApp.Parameters(try rethrown { () throws(SyncError) in try device.parameters() })
    }

    // MARK: Change

    /// Downloads, verifies and stages the channel's release.
    ///
    /// Running versions are not changed.
    ///
    /// If the task is cancelled, the sync stops. Received bytes are kept, and the next sync continues with them.
    ///
    /// - Parameters:
    ///   - options: The limits of the sync, and its retries and metering.
    ///   - report: Called with the progress, from many threads.
    /// - Throws: `network`, `refused`, `malformed`, `disk`, `busy` or `cancelled`, if the channel could not be evaluated at all.
    ///   Failures of single patches are in the result.
    @discardableResult
    public func sync(
        _ options: SyncOptions = SyncOptions(),
        report: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws(PatchlineError) -> SyncResult {
        let (device, teller) = (try present, ProgressReporter(report))
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

    /// The sync of a running app, if a test replaces it.
    var appSync: Updates.Sync? {
        guard let substitute else { return nil }
        return { @Sendable [device] (report) async throws(SyncError) in
            try await substitute(try device.reopened(), SyncOptions(), report)
        }
    }

    /// Rolls back to the previously confirmed selection, else to the embedded one.
    ///
    /// Blocks the versions that differ for 14 days.
    ///
    /// - Returns: The selection that runs from now on.
    /// - Throws: `nothingThere` if there is no selection to return to.
    @discardableResult
    public func rollBack() async throws(PatchlineError) -> [Version] {
        let device = try present
        let running = try await rethrowing { () throws(SyncError) in
            _ = try await device.rollBack()
            return try device.state().machine.state.running
        }
        return running?.patches.map { Version($0.label) } ?? []
    }

    /// Deletes the records of failures and manual rollbacks, so that the next sync installs these versions again.
    ///
    /// - Parameter patches: The ids of the patches, or nil for all.
    /// - Returns: The versions that were blocked or waiting.
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
    /// Running versions keep running until the new channel has a confirmed selection. Trust is kept: a list older than the known
    /// one is rejected, regardless of the server.
    ///
    /// - Throws: `notNow` if the first version is still on trial and no selection was ever confirmed.
    public func follow(channel: String? = nil, server: String? = nil) async throws(PatchlineError) {
        let name = try channel.map { text throws(PatchlineError) in try Self.parsed(text, "channel") as ChannelName }
        let url = try server.map { text throws(PatchlineError) in
            guard let url = ServerURL(text) else { throw PatchlineError("server \(ServerURL.rule)") }
            return url
        }
        let device = try present
        _ = try await rethrowing { () throws(SyncError) in try await device.following(channel: name, server: url) }
    }

    /// Confirms the launch on trial, so that its selection stays.
    ///
    /// - Parameter launch: The launch's token. A late confirmation of another launch is then ignored. Nil confirms any launch.
    /// - Returns: False if no launch, or another one, is on trial. Nothing was changed then.
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

    /// The facts for rules, and the access to the servers.
    public var settings: Settings {
        get throws(PatchlineError) { Settings(try present.configuration) }
    }

    /// Changes the facts for rules, or the access to the servers.
    ///
    /// The next sync uses them.
    ///
    /// - Parameter change: Edits the present settings. It may be called while the store is locked, and must do nothing else.
    /// - Returns: The changed settings.
    /// - Throws: `invalid`, with the setting and its rule. Nothing was changed then.
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
