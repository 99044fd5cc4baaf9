import DeviceTesting
import Glibc
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// A server, a device with its disk in memory, and the events of its syncs.
struct World {
    let clock: ManualClock
    let repository: SimulatedRepository
    let disk: FaultyFiles
    var device: SimulatedDevice
    private let events = NIOLockedValueBox<[SyncEvent]>([])

    /// - Parameters:
    ///   - patches: what the channel offers at first.
    ///   - embedded: where the app ships them; nil for one that ships nothing.
    init(_ patches: [SimulatedPatch] = SampleApp.first, embedded: FilePath? = nil) throws {
        clock = ManualClock()
        repository = SimulatedRepository(clock: clock)
        repository.publish(patches)
        disk = FaultyFiles()
        if let embedded { try SimulatedEmbedded(of: repository).install(at: embedded, on: disk) }
        device = try SimulatedDevice(of: repository, clock: clock, on: disk, embedded: embedded)
        device.report = { [events] event in events.withLockedValue { $0.append(event) } }
    }

    /// Made once a run, and copied: most tests begin with it.
    private static let first = SharedFixture { try await running(SampleApp.first) }

    /// With the first release synced, launched and confirmed.
    static func running() async throws -> World {
        try World(copying: try await first.value)
    }

    static func running(_ patches: [SimulatedPatch]) async throws -> World {
        let world = try World(patches)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = world.repository.takeRequests()
        _ = world.takeStates()
        return world
    }

    init(copying other: World) throws {
        clock = ManualClock(other.clock.now())
        repository = other.repository.copy(clock: clock)
        disk = other.disk.reopened()
        device = try SimulatedDevice(
            opening: DeviceStore(root: other.store.root, files: disk, isShared: false, admitting: .all),
            of: repository,
            clock: clock
        )
        device.report = { [events] event in events.withLockedValue { $0.append(event) } }
    }

    /// The same world, whose device was started again on what its disk holds now.
    func continued(on disk: FaultyFiles) throws -> World {
        World(clock: clock, repository: repository, disk: disk, device: try device.reopened(on: disk))
    }

    private init(clock: ManualClock, repository: SimulatedRepository, disk: FaultyFiles, device: SimulatedDevice) {
        self.clock = clock
        self.repository = repository
        self.disk = disk
        self.device = device
    }

    var store: DeviceStore { device.store }
    var machine: SelectionMachine { get throws { try device.device.state().machine } }

    /// What was told since the last look.
    func takeEvents() -> [SyncEvent] {
        events.withLockedValue { events in
            defer { events = [] }
            return events
        }
    }

    /// The states that every patch went through since the last look: `web: Add UnInstall`.
    func takeStates() -> [String: [String]] {
        var states: [String: [String]] = [:]
        for case .state(let id, _, let state, _) in takeEvents() { states[id.text, default: []].append(state.name) }
        return states
    }

    /// Id, version, state and fault of what is installed: `web 1.0.0 Success`.
    func status() throws -> [String] {
        try device.device.status().rows.map { row in
            "\(row.patchID) \(row.version) \(row.state.name)" + (row.isPending ? " waits" : "")
                + (row.fault.map { ": \($0)" } ?? "")
        }
    }

    /// Everything below the store, by path; what a refused update must leave as it was.
    func files(below directory: String = "") throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        func visit(_ folder: FilePath) throws {
            for name in try disk.list(folder) {
                let path = folder.appending(name)
                switch try disk.status(of: path)?.kind {
                case .directory: try visit(path)
                case .file: found[path.string] = try disk.read(path, limit: 10_000_000)
                default: found[path.string] = []
                }
            }
        }
        try visit(directory.isEmpty ? "/" : store.root.appending(directory))
        return found
    }

    /// Every byte and every signature of every kept selection, checked anew; the labels of what would run.
    func expectWhole(_ labels: String?, location: SourceLocation = #_sourceLocation) throws {
        let report = try device.device.verifyInstalled(signatures: true)
        #expect(report.faults == [], sourceLocation: location)
        #expect(try machine.state.running?.labels == labels, sourceLocation: location)
    }
}

/// Every byte and every signature of every kept selection verifies.
func expectNoFaults(
    _ device: SimulatedDevice,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let faults = try device.device.verifyInstalled(signatures: true).faults
    #expect(faults == [], comment, sourceLocation: sourceLocation)
}

func object(_ text: String) -> String { URLLayout.object(SHA256Digest(of: Array(text.utf8))) }

@Suite("A sync")
struct SyncTests {
    private let first = "banner 1, fix-cart-total 1, web 1.0.0"
    private let second = "banner 1, fix-cart-total 2, web 2.0.0"

    @Test func `into an empty store adds every patch, and a launch and its confirmation install them`() async throws {
        let world = try World()
        let report = try await world.device.sync()
        #expect(report.staging == .staged)
        #expect(report.isComplete)
        #expect(report.filesReceived == 8)
        let states = world.takeStates()
        #expect(
            states == [
                "banner": ["Add", "UnInstall"], "fix-cart-total": ["Add", "UnInstall"], "web": ["Add", "UnInstall"],
            ]
        )
        #expect(
            try world.status() == [
                "banner 1 UnInstall waits", "fix-cart-total 1 UnInstall waits", "web 1.0.0 UnInstall waits",
            ]
        )

        let token = SimulatedDevice.token(1)
        let next = try #require(try world.machine.kept.first)
        #expect(try await world.device.device.launch() == .tryOut(next, token))
        #expect(try await world.device.device.confirm(token) == .confirmed(next))
        #expect(try world.status() == ["banner 1 Success", "fix-cart-total 1 Success", "web 1.0.0 Success"])
        try world.expectWhole(first)
    }

    @Test func `asks for each path once, and for objects by their digests`() async throws {
        let world = try World()
        try await world.device.sync()
        let requests = world.repository.takeRequests()
        #expect(Set(requests).count == requests.count)
        #expect(
            Set(requests.filter { $0.hasPrefix("objects/") })
                == Set(
                    (Array(SampleApp.files1.values) + ["cart.total = 1;", "show('one');"]).map(object)
                )
        )
        #expect(
            requests.prefix(5) == [
                "metadata/2.root.json", "metadata/timestamp.json", "metadata/2.snapshot.json",
                "metadata/1.targets.json",
                "metadata/1.production.json",
            ]
        )
    }

    @Test func `with nothing new asks for the next root and the timestamp, and for nothing else`() async throws {
        let world = try await World.running()
        let before = try world.files(below: "objects")
        let report = try await world.device.sync()
        #expect(world.repository.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
        #expect(report.staging == .unchanged)
        #expect(report.filesReceived == 0 && report.bytesReceived == 0)
        #expect(world.takeStates().values.allSatisfy { $0 == ["Success"] })
        #expect(try world.files(below: "objects") == before)
    }

    @Test func `with nothing new asks for no dial either`() async throws {
        let world = try World()
        world.repository.setDial([])
        try await world.device.sync()
        _ = world.repository.takeRequests()
        try await world.device.sync()
        #expect(world.repository.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
    }

    @Test func `of an update fetches what changed, each file once, and nothing that is there`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let report = try await world.device.sync()
        let requests = world.repository.takeRequests()
        #expect(
            Set(requests.filter { $0.hasPrefix("objects/") })
                == [object("cart.total = 2;"), object("console.log(2);"), object("new;")]
        )
        #expect(Set(requests).count == requests.count)
        #expect(requests.count(where: { $0.hasPrefix("targets/") }) == 3, "list, manifest, column")
        #expect(report.filesReceived == 5)
        #expect(
            world.takeStates() == [
                "banner": ["Success"], "fix-cart-total": ["Update", "UnInstall"], "web": ["Update", "UnInstall"],
            ]
        )
        try world.expectWhole(first)
        #expect(try await world.device.launchAndConfirm()?.labels == second)
        try world.expectWhole(second)
    }

    @Test func `fetches nothing for a bundle that a device goes back to`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        try await world.device.launchAndConfirm()
        _ = world.repository.takeRequests()
        world.repository.publish(SampleApp.first)
        try await world.device.sync()
        #expect(!world.repository.takeRequests().contains { $0.hasPrefix("objects/") || $0.contains("manifest") })
        #expect(try await world.device.launchAndConfirm()?.labels == first)
    }

    @Test func `links unchanged files instead of copying them`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        let lib = try #require(SHA256Digest(hex: String(object("export const lib = 1;").suffix(64))))
        // Its object, and its path in both bundles.
        #expect(try world.disk.status(of: world.store.objects.path(of: lib))?.linkCount == 3)
    }

    @Test func `changes nothing of what runs until it is switched to`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        #expect(try world.machine.state.running?.labels == first)
        #expect(
            try world.status() == [
                "banner 1 Success", "fix-cart-total 1 Success", "fix-cart-total 2 UnInstall waits", "web 1.0.0 Success",
                "web 2.0.0 UnInstall waits",
            ]
        )
        guard case .tryOut(let selection, _) = try await world.device.device.switchToPending() else {
            Issue.record("nothing to try out")
            return
        }
        #expect(selection.labels == second)
        await #expect(throws: SyncError.nothingPending) { try await world.device.device.switchToPending() }
    }

    @Test func `withdraws what is not listed any more at the next launch`() async throws {
        let world = try await World.running()
        world.repository.withdraw("banner")
        try await world.device.sync()
        #expect(try world.machine.state.running?.labels == first)
        guard case .run(let selection, let removed) = try await world.device.device.launch() else {
            Issue.record("a withdrawal needs no trial")
            return
        }
        #expect(selection.labels == "fix-cart-total 1, web 1.0.0")
        #expect(removed.map(\.text) == ["banner"])
        #expect(try world.disk.status(of: world.store.root.appending(object("show('one');"))) == nil)
        try world.expectWhole("fix-cart-total 1, web 1.0.0")
    }

    @Test func `of a channel that offers nothing leaves the store empty`() async throws {
        let world = try World([])
        let report = try await world.device.sync()
        #expect(report.staging == .unchanged && report.isComplete)
        #expect(try await world.device.device.launch() == .nothing)
    }

    @Test func `of a channel that was never published is refused`() async throws {
        let world = try World()
        let files = FaultyFiles()
        let device = try SimulatedDevice(
            of: world.repository,
            clock: world.clock,
            on: files,
            channel: SimulatedRepository.beta
        )
        await #expect(throws: SyncError.trust(.notInSnapshot(role: "beta"))) { try await device.sync() }
    }

    @Test func `needs no network and no unexpired role to launch what is installed`() async throws {
        let world = try await World.running()
        world.clock.advance(by: .days(1_000))
        let later = try world.device.reopened(on: world.disk.crashed(.lose))
        guard case .run(let selection, _) = try await later.device.launch() else {
            Issue.record("nothing runs")
            return
        }
        #expect(selection.labels == first)
        #expect(try later.device.verifyInstalled(signatures: true).faults == [])
        #expect(world.repository.takeRequests().isEmpty)
    }

    @Test func `during a trial stages nothing, and the next one after it does`() async throws {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        try await world.device.sync()
        _ = try await world.device.device.launch()
        world.repository.publish(SampleApp.second)
        #expect(try await world.device.sync().staging == .trialRunning)
        try await world.device.launchAndConfirm()
        #expect(try await world.device.sync().staging == .staged)
        #expect(try await world.device.launchAndConfirm()?.labels == second)
    }

    @Test func `does not stage what failed its trial while the sync was under way`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        var device = world.device
        // The page reloads and hangs while the sync is about to write down what it chose.
        device.device.atCommitPoint = { [store = world.store, clock = world.clock] point in
            guard point == .beforeState, var state = try? store.state(of: SimulatedRepository.production) else {
                return
            }
            _ = state.machine.switchToPending(token: SimulatedDevice.token(9))
            _ = state.machine.timerEnded(SimulatedDevice.token(9), at: clock.now())
            try? store.save(state, of: SimulatedRepository.production)
        }
        #expect(try await device.sync().staging == .superseded)
        #expect(try world.machine.state.phase == .settled)
        try world.expectWhole(first)
    }

    @Test func `does not stage what was chosen for another version of the app`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        var device = world.device
        device.device.atCommitPoint = { [store = world.store] point in
            guard point == .beforeState, var configuration = try? store.configuration() else { return }
            configuration.appVersion = AppVersion("3")
            try? store.save(configuration)
        }
        #expect(try await device.sync().staging == .superseded)
        #expect(try world.machine.state.phase == .settled)
        try world.expectWhole(first)
    }

    @Test func `is told when what runs changed while it was under way`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        try await world.device.sync()
        var device = world.device
        device.device.atCommitPoint = { [store = world.store] point in
            guard point == .beforeState, var state = try? store.state(of: SimulatedRepository.production) else {
                return
            }
            _ = state.machine.switchToPending(token: SimulatedDevice.token(9))
            _ = state.machine.confirm(SimulatedDevice.token(9))
            try? store.save(state, of: SimulatedRepository.production)
        }
        #expect(try await device.sync().staging == .superseded)
        try world.expectWhole(second)
        #expect(try await world.device.sync().staging == .unchanged)
    }

    @Test func `takes what waits after a failed trial when a person asks for it, and not before its hour has passed`()
        async throws
    {
        let world = try await World.running()
        world.repository.publish([SampleApp.fix2, SampleApp.banner1, SampleApp.web1])
        for (retryNow, minutes, staging) in [
            (false, 0, SelectionMachine.Staging.staged), (false, 59, .unchanged), (true, 0, .staged),
        ] {
            world.clock.advance(by: .minutes(minutes))
            var device = world.device
            device.retryNow = retryNow
            let found = try await device.sync().staging
            #expect(found == staging, "\(retryNow) \(minutes)")
            guard staging == .staged, case .tryOut(_, let token) = try await world.device.device.launch() else {
                continue
            }
            _ = try await world.device.device.timerEnded(token)
        }
        world.clock.advance(by: .days(13))
        world.repository.edit { $0.publishSnapshot() }
        #expect(try await world.device.sync().staging == .unchanged)
        world.clock.advance(by: .days(1))
        world.repository.edit { $0.publishSnapshot() }
        #expect(try await world.device.sync().staging == .staged)
    }
}

@Suite("A store")
struct StoreTests {
    @Test func `is not made twice`() throws {
        let world = try World()
        let before = try world.files()
        #expect(throws: SyncError.storeExists("/store")) {
            try SimulatedDevice(of: world.repository, clock: world.clock, on: world.disk)
        }
        #expect(try world.files() == before)
    }

    private func create(
        _ root: [UInt8],
        admitting admission: KeyAdmission = .all,
        on files: FaultyFiles
    ) throws(SyncError) {
        try Device.create(
            DeviceStore(root: "/store", files: files, isShared: false, admitting: admission),
            server: SimulatedDevice.server,
            channel: SimulatedRepository.production,
            root: root
        )
    }

    @Test func `is not made from a root that testing keys sign`() throws {
        let files = FaultyFiles()
        let root = SimulatedRepository(clock: ManualClock()).root
        #expect(throws: SyncError.trust(.testingKey(role: "root"))) {
            try create(root, admitting: .noTestingKeys, on: files)
        }
        #expect(try files.list("/") == [])
    }

    @Test func `takes nothing that a testing key vouches for, outside tests`() async throws {
        let world = try await World.running()
        world.repository.publish(SampleApp.second)
        let before = try world.files()
        let store = DeviceStore(root: "/store", files: world.disk, isShared: false)
        let device = try SimulatedDevice(opening: store, of: world.repository, clock: world.clock)
        await #expect(throws: SyncError.trust(.testingKey(role: "root"))) { try await device.sync() }
        #expect(try world.files() == before)
    }

    @Test func `is not made from a root that names no app`() throws {
        let files = FaultyFiles()
        let text = String(decoding: SimulatedRepository(clock: ManualClock()).root, as: UTF8.self)
        let envelope = try Envelope(Array(text.utf8), role: "root", limit: Limits.root)
        var signed = try #require(envelope.signed.object)
        signed["x-patchline-app"] = nil
        var nameless = Envelope(role: "root", signing: .object(signed))
        try nameless.sign(with: SimulatedKey.root.key, id: SimulatedKey.root.signer.id)
        #expect(throws: SyncError.rootNamesNoApp) { try create(nameless.fileBytes, on: files) }
        #expect(try files.list("/") == [])
    }

    @Test func `is not made from a root that does not sign itself`() throws {
        let files = FaultyFiles()
        let repository = SimulatedRepository(clock: ManualClock()) { $0.impostors["root"] = [.other] }
        #expect(throws: SyncError.trust(.threshold(role: "root", valid: 0, needed: 1))) {
            try create(repository.root, on: files)
        }
        #expect(try files.list("/") == [])
    }

    @Test func `is none where nothing was made`() throws {
        #expect(throws: SyncError.noStore("/store")) {
            try Device(DeviceStore(root: "/store", files: FaultyFiles(), isShared: false), now: ManualClock().now)
        }
    }

    @Test(arguments: ["config.json", "device.json"])
    func `names a file that is malformed, and loses nothing`(file: String) async throws {
        let world = try await World.running()
        let path = world.store.root.appending(FilePath(file).components)
        try world.disk.overwrite(path, with: Array("{\"format\":1}".utf8))
        let before = try world.files()
        let device = try? world.device.reopened(on: world.disk)
        let error = await #expect(throws: SyncError.self) {
            guard let device else {
                _ = try world.device.reopened(on: world.disk)
                return
            }
            try await device.sync()
        }
        let (field, rule) = file == "device.json" ? ("deviceId", "must be a string") : ("format", "must be a string")
        #expect(error == .format(FormatError(path.string, field: field, rule: rule)))
        #expect(try world.files(below: "objects") == before.filter { $0.key.contains("/objects/") })
        #expect(try world.files()[path.string] == before[path.string])
    }

    @Test func `that one process changes is closed to a second sync, and open to a confirmation`() async throws {
        let root = FilePath("/tmp/patchsync-tests-\(UInt64.random(in: 0...UInt64.max))")
        defer { try? DiskFiles().removeTree(root) }
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        repository.publish(SampleApp.first)
        let device = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true)
        try await device.sync()
        guard case .tryOut(_, let token) = try await device.device.launch() else {
            Issue.record("nothing to try out")
            return
        }
        let held = try StoreLock(device.store.syncLock)
        let error = await #expect(throws: SyncError.self) { try await device.sync() }
        guard case .lock(.held(device.store.syncLock, by: _?)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        guard case .confirmed = try await device.device.confirm(token) else {
            Issue.record("a sync that runs keeps a page from confirming")
            return
        }
        extendLifetime(held)
        let report = try device.device.verifyInstalled(signatures: true)
        #expect(report.patches == 3 && report.files == 7 && report.signatures == 7 && report.faults == [])
        #expect(report.checks.count == 14 && report.checks.allSatisfy(\.holds))
    }

    @Test func `that another process syncs is synced after it, if the caller waits`() async throws {
        let root = FilePath("/tmp/patchsync-tests-\(UInt64.random(in: 0...UInt64.max))")
        defer { try? DiskFiles().removeTree(root) }
        let clock = ManualClock()
        let repository = SimulatedRepository(clock: clock)
        let store = try SimulatedDevice(of: repository, clock: clock, on: DiskFiles(), at: root, isShared: true).store
        var held: StoreLock? = try StoreLock(store.syncLock)
        var processes: [Int?] = []
        let isDone = try await store.syncing(
            waitingUpTo: .seconds(600),
            whenHeld: { process in
                processes.append(process)
                _ = held.take()
            }
        ) { () throws(SyncError) in true }
        #expect(isDone && processes == [Int(getpid())])
    }
}
