import NIOConcurrencyHelpers
package import PatchChoice
package import PatchFetch
package import PatchFormat
package import PatchStore
package import PatchTesting
package import PatchSync
import PatchCrypto
import PatchTrust
package import ReleaseFolder
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
    /// How much is made durable at once, where a test has it otherwise.
    package var batches: ObjectBatch.Bounds?
    package let repository: SimulatedRepository
    package let clock: ManualClock
    package var device: Device
    package var retryNow = false
    /// Somebody approves of whatever a sync finds.
    package var approvesAll = false
    /// What may come of what is not mandatory, in bytes; nil where bytes cost nothing.
    package var allowance: Int?
    /// Off, so that tests tell the requests of the ordinary way.
    package var express = false
    /// A test that is about neither asks once and waits for nothing.
    package var deadlines = {
        var deadlines = Deadlines()
        (deadlines.retries, deadlines.sync, deadlines.newerList) = (0, nil, nil)
        return deadlines
    }()
    package var timing = RetryTiming()
    /// Asked after the repository.
    package var mirrors: [Source] = []
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
        isShared: Bool = false,
        embedded: FilePath? = nil,
        appBuild: String? = nil,
        machine: MachineIdentity? = nil
    ) throws(SyncError) {
        let store = DeviceStore(root: root, files: files, isShared: isShared, admitting: .all)
        var facts = facts
        if let appVersion = appVersion.flatMap({ AppVersion($0) }) { facts.appVersion = .set(appVersion) }
        try Device.create(
            store,
            server: Self.server,
            channel: channel,
            facts: facts,
            root: repository.root,
            deviceID: Self.id,
            machine: machine,
            embedded: try embedded.map { (path) throws(SyncError) in try Self.embedded(path, on: files) },
            appBuild: appBuild.flatMap { AppBuild($0) }
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
        var device = try SimulatedDevice(
            opening: DeviceStore(root: store.root, files: files, isShared: false, admitting: .all),
            of: repository,
            clock: clock
        )
        device.express = express
        return device
    }

    package static func embedded(_ path: FilePath, on files: any FileOperations) throws(SyncError) -> EmbeddedFolder {
        do throws(ReleaseError) {
            return try EmbeddedFolder(path, files: files)
        } catch { throw .embedded(path, error) }
    }

    /// The same store at a new start of the app, which may be another build on another machine.
    package func opened(
        on files: (any FileOperations)? = nil,
        machine: MachineIdentity? = nil,
        appBuild: String? = nil
    ) async throws(SyncError) -> (SimulatedDevice, Opening) {
        let store = DeviceStore(root: store.root, files: files ?? store.files, isShared: false, admitting: .all)
        let opening = try await Device.open(
            store,
            now: clock.now,
            machine: machine,
            appBuild: appBuild.flatMap { AppBuild($0) },
            random: { [UInt8](repeating: 9, count: 16) }
        )
        var device = try SimulatedDevice(opening: store, of: repository, clock: clock)
        device.express = express
        return (device, opening)
    }

    package var engine: SyncEngine {
        var store = device.store
        if let batches { store.objects.bounds = batches }
        var engine = SyncEngine(
            store: store,
            configuration: device.configuration,
            sources: [Source(name: Self.server.text, fetcher: repository)] + mirrors,
            now: clock.now
        )
        engine.deadlines = deadlines
        engine.timing = timing
        engine.retryNow = retryNow
        engine.approvesAll = approvesAll
        if let allowance { engine.allowance = allowance }
        engine.express = express
        engine.report = report
        engine.atCommitPoint = device.atCommitPoint
        return engine
    }

    @discardableResult
    package func sync() async throws(SyncError) -> SyncReport {
        let engine = engine
        return try await store.syncing { () throws(SyncError) in try await engine.sync() }
    }

    /// What a sync would fetch, and what that would cost.
    package func forecast() async throws(SyncError) -> SyncForecast {
        let engine = engine
        return try await store.syncing { () throws(SyncError) in try await engine.forecast() }
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
        case .run(let selection, _), .unproven(let selection): return selection
        case .rolledBack(let selection, _), .interrupted(let selection, _): return selection
        case .nothing: return nil
        }
    }
}
