import DeviceOutput
import APIProxy
import HTTPFiles
import NIOConcurrencyHelpers
import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchSync
package import Patchline
package import SystemPackage

/// A store of the daemon. While this runs, its app is launched and served, and its versions are downloaded and started.
package actor StoreRunner: StoreHost {
    /// The functions that a runner uses of its process.
    package struct Environment: Sendable {
        package var open: @Sendable (FilePath) throws(SyncError) -> DeviceStore
        package var now: @Sendable () -> UTCTime
        package var machine: MachineIdentity?
        package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
        package var networkChanges = NetworkChanges.system
        package var deadlines = Deadlines()
        package var ports = PortTable()
        package var portHolder: @Sendable (Int) -> PortHolder = { PortHolder(listeningOn: $0) }
        /// Called after each sync, when there may be no work until the next.
        package var onIdle: @Sendable () -> Void = {}
        /// Receives every event, from many threads.
        package var report: @Sendable (_ store: StoreSettings, DeviceEvent) -> Void

        package init(
            open: @escaping @Sendable (FilePath) throws(SyncError) -> DeviceStore,
            now: @escaping @Sendable () -> UTCTime,
            report: @escaping @Sendable (_ store: StoreSettings, DeviceEvent) -> Void
        ) {
            (self.open, self.now, self.report) = (open, now, report)
        }
    }

    enum Step: Sendable {
        case due
        case synced(Schedule.Outcome)
        case network
        /// A postponed selection may start.
        case holdEnded
        /// The store's folder was removed.
        case removed
        /// The interval, server or channel has changed.
        case adjusted
    }

    package nonisolated let name: String
    private nonisolated let present: NIOLockedValueBox<StoreSettings>
    nonisolated let environment: Environment
    var right: ServingLock?
    /// Whether the store exists, and its differences from the settings were reported.
    var isMade = false
    private(set) var server: LocalServer?
    private var address: LocalServer.Address?
    /// The reason why the last launch ended.
    private var lastTrouble: Failure?
    /// The last reported fault.
    ///
    /// Each fault is reported once, not at each attempt.
    private var reportedFault: RunnerFault?
    /// Whether versions are downloaded while another listener has the port.
    private var awaitsPort = false
    /// The pause before the next attempt to get the port.
    private(set) var pausing: Task<Void, any Error>?
    var isRemoved = false
    /// Whether the server or channel has changed since the last sync.
    var hasOtherSource = false
    private(set) var isInBackground = false
    private(set) var isStopped = false
    var schedule: Schedule
    var planned: (look: NextContact, at: ContinuousClock.Instant)?
    var lastTry: ContinuousClock.Instant?
    private(set) var steps: AsyncStream<Step>.Continuation?
    var hold: Task<Void, Never>?

    package init(_ settings: StoreSettings, in environment: Environment) {
        name = settings.name
        present = NIOLockedValueBox(settings)
        self.environment = environment
        schedule = Schedule(every: settings.syncEvery, isOn: settings.syncs)
    }

    package nonisolated var settings: StoreSettings { present.withLockedValue(\.self) }

    /// Applies settings that need no restart (``StoreSettings/effect(ofChangeTo:)``).
    ///
    /// Pages and their streams are not interrupted.
    package func adjust(to new: StoreSettings) async {
        let old = settings
        present.withLockedValue { $0 = new }
        schedule.change(to: new.syncEvery)
        do throws(SyncError) { try await follow() } catch { emit(.storeFailed(Failure(error))) }
        await server?.adjust(new.servingOnSchedule(environment.deadlines))
        // The URL must be written or printed again.
        if let address, old.urlFile != new.urlFile || old.printsURL != new.printsURL { emit(.listening(address)) }
        if old.syncEvery != new.syncEvery || hasOtherSource { steps?.yield(.adjusted) }
    }

    // MARK: Calls of the local socket

    package nonisolated func device() throws(SyncError) -> Device {
        try Device(try environment.open(settings.store), now: environment.now)
    }

    package func pages() -> LocalServer.Address? { address }

    package func trouble() -> Failure? { server == nil ? lastTrouble : nil }

    package func nextContact() -> NextContact? {
        guard let planned else { return nil }
        let passed = planned.at.duration(to: .now)
        let left = max(.zero, .seconds(planned.look.seconds) - passed)
        return NextContact(seconds: left.wholeSeconds, reason: planned.look.reason)
    }

    package func sync(_ wish: SyncRequest) async throws(SyncError) -> SyncReport {
        var own = Updates.SyncRequest()
        (own.isMetered, own.retriesFailed) = (wish.isMetered, wish.retriesFailed)
        if server == nil, awaitsPort { return try await syncWithoutPages(own) }
        return try await running().sync(own)
    }

    package func switchToPending() async throws(SyncError) { try await running().startPending(isRequested: true) }

    package func background() async throws(SyncError) {
        try await running().background()
        isInBackground = true
        await switchIfUndisturbed()
    }

    package func foreground() async throws(SyncError) {
        try await running().foreground()
        isInBackground = false
    }

    private func running() throws(SyncError) -> LocalServer {
        guard let server else { throw .notKept(lastTrouble?.message) }
        return server
    }

    // MARK: Running

    /// Claims the port of the store's pages among the stores of this daemon.
    ///
    /// - Parameter ofEarlierStart: Whether to claim only a port from the settings or an earlier start.
    package func claimPort(ofEarlierStart: Bool) {
        guard settings.serves, let configuration = try? device().configuration else { return }
        if ofEarlierStart, settings.port ?? configuration.port == nil { return }
        let port = configuration.pagesPort(asked: settings.port)
        if port != 0 { _ = environment.ports.claim(port, for: name) }
    }

    /// Runs until ``stop()``.
    ///
    /// A launch that ends earlier is started again after a pause.
    package func run() async {
        var failures = 0
        while !isStopped {
            let start = ContinuousClock.now
            var fault: RunnerFault?
            do throws(RunnerFault) { try await launch() } catch { fault = error }
            if let fault, !isStopped {
                lastTrouble = Failure(fault)
                if fault != reportedFault { emit(.storeFailed(Failure(fault))) }
                reportedFault = fault
            }
            if start.duration(to: .now) > .seconds(300) { failures = 0 }
            guard !isStopped else { break }
            if isRemoved {
                isRemoved = false
                // `rm -rf` may still be running, and would remove files of the new store too.
                guard (try? await environment.sleep(.seconds(1))) != nil else { break }
                continue
            }
            let pause = min(Duration.seconds(300), .seconds(5) * (1 << min(failures, 6)))
            failures += 1
            guard await wait(pause, fault) else { break }
        }
        right = nil
        environment.ports.release(of: name)
    }

    /// Waits for the next launch.
    ///
    /// If only the port is missing, versions are downloaded in the meantime.
    ///
    /// - Returns: False if the task was cancelled.
    private func wait(_ pause: Duration, _ fault: RunnerFault?) async -> Bool {
        guard let fault, fault.isTakenPort, let device = try? device() else {
            return (try? await environment.sleep(pause)) != nil
        }
        let (stream, steps) = AsyncStream.makeStream(of: Step.self)
        let pausing = Task { [sleep = environment.sleep] in try await sleep(pause) }
        (self.steps, self.pausing, awaitsPort) = (steps, pausing, true)
        defer { (self.steps, self.pausing, awaitsPort) = (nil, nil, false) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.look(stream, device, nil) }
            let isOver = await withTaskCancellationHandler {
                (try? await pausing.value) != nil
            } onCancel: {
                pausing.cancel()
            }
            // A sync in progress is finished first.
            steps.finish()
            return isOver || isRemoved
        }
    }

    /// Stops the store.
    ///
    /// Returns once its pages are no longer served and its trial is stopped cleanly.
    package func stop() async {
        isStopped = true
        steps?.finish()
        let last = server
        (server, address, planned) = (nil, nil, nil)
        environment.ports.release(of: name)
        await last?.stop()
    }

    /// Runs one launch, from its beginning to its end.
    private func launch() async throws(RunnerFault) {
        let opening: Opening
        do throws(SyncError) {
            try await prepare()
            opening = try await Device.open(
                try environment.open(settings.store),
                now: environment.now,
                machine: environment.machine,
                appBuild: settings.appBuild
            )
        } catch { throw .device(error) }
        if let trouble = opening.trouble { emit(.storeFailed(Failure(trouble))) }
        var device = opening.device
        device.atCommitPoint = environment.atCommitPoint
        let proxying = try settings.proxying(device.store.files)
        guard let proxying else { return try await serve(device, nil) }
        let (report, present) = (environment.report, present)
        do {
            try await device.proxying(proxying, report: { report(present.withLockedValue(\.self), .proxyLine($0)) }) {
                proxy in
                try await self.serve(device, proxy)
            }
        } catch let fault as RunnerFault {
            throw fault
        } catch { throw .other((error as? FileError)?.description ?? String(describing: error)) }
    }

    private func serve(_ device: Device, _ proxy: (any RequestDelegate)?) async throws(RunnerFault) {
        guard !isStopped else { return }
        try claim(device.configuration)
        let (stream, steps) = AsyncStream.makeStream(of: Step.self)
        self.steps = steps
        let server = LocalServer(
            device: device,
            settings: settings.servingOnSchedule(environment.deadlines),
            delegate: proxy
        ) {
            [present, report = environment.report, store = device.store] event in
            if event.isOfRemovedStore, Self.isRemoved(store) {
                steps.yield(.removed)
                return
            }
            if let outcome = Schedule.Outcome(event) { steps.yield(.synced(outcome)) }
            report(present.withLockedValue(\.self), event)
        }
        self.server = server
        defer {
            (self.server, address, self.steps) = (nil, nil, nil)
            hold?.cancel()
            isInBackground = false
        }
        let address: LocalServer.Address
        do throws(LocalServerError) { address = try await server.start() } catch .portInUse(let port) {
            throw .portTaken(port, by: environment.portHolder(port))
        } catch { throw .server(error) }
        if isStopped { return await server.stop() }
        (lastTrouble, reportedFault, planned) = (nil, nil, nil)
        defer { planned = nil }
        let sign = settings.serves ? announce(address, of: device.store) : nil
        defer { withExtendedLifetime(sign) {} }
        if settings.serves {
            self.address = address
            emit(.listening(address))
        }
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.look(stream, device, server) }
            defer { group.cancelAll() }
            do throws(LocalServerError) {
                try await server.waitForEnd()
                return LocalServerError?.none
            } catch { return error }
        }
        if let end { throw .server(end) }
    }

    private func claim(_ configuration: DeviceConfiguration) throws(RunnerFault) {
        let port = configuration.pagesPort(asked: settings.port)
        guard settings.serves, port != 0 else { return }
        if let other = environment.ports.claim(port, for: name) { throw .portTaken(port, by: .store(other)) }
    }

    private func announce(_ address: LocalServer.Address, of store: DeviceStore) -> LiveFile? {
        store.announcing(
            RunningServer(
                process: Int(ProcessID.own),
                port: address.port,
                host: PagesHost(named: address.host)
            )
        )
    }

    func emit(_ event: DeviceEvent) { environment.report(settings, event) }
}
