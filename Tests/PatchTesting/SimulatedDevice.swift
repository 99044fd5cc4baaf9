import NIOConcurrencyHelpers
package import PatchFormat
package import PatchStore
package import PatchSync
import PatchTrust
package import SystemPackage

/// A device of a simulated repository's app: its store on any disk, the manual clock, and launch tokens that count up.
package struct SimulatedDevice: Sendable {
    package static let server: ServerURL = {
        guard let url = ServerURL("http://patches.test") else { preconditionFailure("this is a URL") }
        return url
    }()
    /// Number 4,274 of 10,000 under the salt of ``SimulatedPatch``.
    package static let id = [UInt8](0..<16)

    package let store: DeviceStore
    package let repository: SimulatedRepository
    package let clock: ManualClock
    package var device: Device
    package var retryNow = false
    package var report: @Sendable (SyncEvent) -> Void = { _ in }

    /// A new store.
    package init(
        of repository: SimulatedRepository,
        clock: ManualClock,
        on files: any FileOperations,
        at root: FilePath = "/store",
        appVersion: String? = nil,
        facts: FactChanges = FactChanges(),
        channel: ChannelName = SimulatedRepository.production,
        isShared: Bool = false
    ) throws(SyncError) {
        let store = DeviceStore(root: root, files: files, isShared: isShared)
        var facts = facts
        if let appVersion = appVersion.flatMap({ AppVersion($0) }) { facts.appVersion = .set(appVersion) }
        try Device.create(
            store,
            server: Self.server,
            channel: channel,
            facts: facts,
            root: repository.root,
            allowsTestingKeys: true,
            deviceID: Self.id
        )
        try self.init(opening: store, of: repository, clock: clock)
    }

    /// A store that was made before, by a new process.
    package init(
        opening store: DeviceStore,
        of repository: SimulatedRepository,
        clock: ManualClock
    ) throws(SyncError) {
        self.store = store
        self.repository = repository
        self.clock = clock
        device = try Device(store, now: clock.now)
        let count = NIOLockedValueBox<UInt8>(0)
        device.random = {
            [UInt8](
                repeating: count.withLockedValue { count in
                    count += 1
                    return count
                },
                count: 16
            )
        }
    }

    /// The same store on another state of its disk, opened by a new process.
    package func reopened(on files: any FileOperations) throws(SyncError) -> SimulatedDevice {
        try SimulatedDevice(
            opening: DeviceStore(root: store.root, files: files, isShared: false),
            of: repository,
            clock: clock
        )
    }

    package var engine: SyncEngine {
        var engine = SyncEngine(
            store: store,
            configuration: device.configuration,
            fetcher: repository,
            now: clock.now
        )
        engine.retryNow = retryNow
        engine.report = report
        engine.atCommitPoint = device.atCommitPoint
        return engine
    }

    @discardableResult
    package func sync() async throws(SyncError) -> SyncReport {
        let engine = engine
        return try await store.syncing { () throws(SyncError) in try await engine.sync() }
    }

    /// The n-th launch token that this device gives out, from 1.
    package static func token(_ number: UInt8) -> LaunchToken {
        LaunchToken(random: [UInt8](repeating: number, count: 16))
    }

    /// Launches, and confirms a trial.
    @discardableResult
    package func launchAndConfirm() async throws(SyncError) -> Selection? {
        switch try await device.launch() {
        case .tryOut(let selection, let token):
            _ = try await device.confirm(token)
            return selection
        case .run(let selection, _): return selection
        case .rolledBack(let selection, _): return selection
        case .nothing: return nil
        }
    }
}
