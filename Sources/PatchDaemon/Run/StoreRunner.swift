import APIProxy
import HTTPFiles
import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchSync
package import Patchline
package import SystemPackage
package import Terminal

/// One store of the daemon: its app is launched, served, asked for and switched for as long as this runs.
package actor StoreRunner: StoreHost {
    /// What it is given of the process that it runs in.
    package struct Surroundings: Sendable {
        package var open: @Sendable (FilePath) throws(SyncError) -> DeviceStore
        package var now: @Sendable () -> UTCTime
        package var machine: MachineIdentity?
        package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
        package var networkChanges = NetworkChanges.system
        package var deadlines = Deadlines()
        package var ports = PortTable()
        package var holderOfPort: @Sendable (Int) -> PortHolder = { PortHolder(listeningOn: $0) }
        /// Called after each sync: there may be nothing to do until the next.
        package var lullBegan: @Sendable () -> Void = {}
        /// Hears every event, from many threads.
        package var report: @Sendable (_ store: StoreSettings, StoreEvent) -> Void

        package init(
            open: @escaping @Sendable (FilePath) throws(SyncError) -> DeviceStore,
            now: @escaping @Sendable () -> UTCTime,
            report: @escaping @Sendable (_ store: StoreSettings, StoreEvent) -> Void
        ) {
            (self.open, self.now, self.report) = (open, now, report)
        }
    }

    private enum Step: Sendable {
        case due
        case synced(Schedule.Outcome)
        case network
        /// What people put off may start.
        case holdEnded
        /// The store's folder is gone.
        case removed
    }

    package nonisolated let name: String
    package nonisolated let settings: StoreSettings
    private nonisolated let around: Surroundings
    private var right: ServingRight?
    /// The store is there, and what differs from the settings was told.
    private var isMade = false
    private var server: LocalServer?
    private var address: LocalServer.Address?
    /// Why the last launch ended.
    private var lastTrouble: Failure?
    /// The last reported fault.
    ///
    /// It is reported once, not at each try.
    private var toldFault: RunnerFault?
    /// Whether versions are downloaded while another listener has the port.
    private var awaitsPort = false
    /// The pause before the next try to get the port.
    private var pausing: Task<Void, any Error>?
    private var isRemoved = false
    /// Another server or channel is followed since the last sync.
    private var hasOtherSource = false
    private var isInBackground = false
    private var isStopped = false
    private var schedule: Schedule
    private var planned: (look: NextLook, at: ContinuousClock.Instant)?
    private var lastTry: ContinuousClock.Instant?
    private var steps: AsyncStream<Step>.Continuation?
    private var hold: Task<Void, Never>?

    package init(_ settings: StoreSettings, in around: Surroundings) {
        name = settings.name
        self.settings = settings
        self.around = around
        schedule = Schedule(every: settings.syncEvery)
    }

    // MARK: As others ask it

    package nonisolated func device() throws(SyncError) -> Device {
        try Device(try around.open(settings.store), now: around.now)
    }

    package func pages() -> LocalServer.Address? { address }

    package func trouble() -> Failure? { server == nil ? lastTrouble : nil }

    package func nextLook() -> NextLook? {
        guard let planned else { return nil }
        let passed = planned.at.duration(to: .now)
        let left = max(.zero, .seconds(planned.look.seconds) - passed)
        return NextLook(seconds: left.wholeSeconds, reason: planned.look.reason)
    }

    package func sync(_ wish: SyncWish) async throws(SyncError) -> SyncReport {
        var own = Updates.Wish()
        (own.isMetered, own.retriesFailed) = (wish.isMetered, wish.retriesFailed)
        if server == nil, awaitsPort { return try await syncWithoutPages(own) }
        return try await running().sync(own)
    }

    package func switchToPending() async throws(SyncError) { try await running().startPending(isAsked: true) }

    package func background() async throws(SyncError) {
        try await running().background()
        isInBackground = true
        await switchIfNobodyLooks()
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

    /// Takes the right to serve the store, and makes the store or has it follow the settings.
    ///
    /// - Throws: `lock(.held)` while another process serves it.
    package func prepare() async throws(SyncError) {
        let store = try around.open(settings.store)
        // Its lock went with the folder, and keeps no other process out.
        if isMade, Self.isRemoved(store) { (isMade, right) = (false, nil) }
        if right == nil { right = try store.servingRight() }
        guard !isMade, let origin = settings.origin else { return }
        defer { isMade = !Self.isRemoved(store) }
        do throws(SyncError) { _ = try store.configuration() } catch .noStore { return try make(store, of: origin) }
        try await follow(origin, store)
    }

    private func make(_ store: DeviceStore, of origin: StoreSettings.Origin) throws(SyncError) {
        let root: [UInt8]
        do throws(FileError) { root = try DiskFiles().read(origin.root, limit: Limits.root) } catch {
            throw .file(error)
        }
        let creation = try Device.createOnce(
            store,
            server: origin.server,
            channel: origin.channel,
            facts: FactChanges(),
            root: root,
            access: nil,
            machine: around.machine,
            embedded: nil,
            appBuild: nil
        )
        if case .made = creation { tell(.made) }
    }

    /// The file's server and channel hold for a store that exists: its trust does not depend on them.
    ///
    /// Its root stays.
    private func follow(_ origin: StoreSettings.Origin, _ store: DeviceStore) async throws(SyncError) {
        let present = try store.configuration()
        // An existing store needs the file no more.
        if let root = try? DiskFiles().read(origin.root, limit: Limits.root) {
            let others = try store.differences(of: root, app: present.app)
            guard others.isEmpty else { return tell(.differs(others)) }
        }
        let changes = SourceChanges(from: present, to: origin)
        guard !changes.isEmpty else { return }
        do throws(SyncError) {
            let device = try Device(store, now: around.now)
            _ = try await device.following(channel: changes.channel, server: changes.server)
        } catch {
            // The store goes on with the settings that it has.
            return tell(.trouble(.device(error)))
        }
        hasOtherSource = true
        tell(.follows(changes.words))
    }

    private static func isRemoved(_ store: DeviceStore) -> Bool {
        do throws(FileError) { return try store.files.status(of: store.configurationFile) == nil } catch {
            return false
        }
    }

    /// Claims the port of the store's pages among the stores of this daemon.
    ///
    /// - Parameter ofEarlierStart: only a port that the settings or an earlier start name.
    package func claimPort(ofEarlierStart: Bool) {
        guard settings.serves, let configuration = try? device().configuration else { return }
        if ofEarlierStart, settings.port ?? configuration.port == nil { return }
        let port = configuration.pagesPort(asked: settings.port)
        if port != 0 { _ = around.ports.claim(port, for: name) }
    }

    /// Runs until ``stop()``.
    ///
    /// A launch that ends before is started again after a pause.
    package func run() async {
        var failures = 0
        while !isStopped {
            let start = ContinuousClock.now
            var fault: RunnerFault?
            do throws(RunnerFault) { try await launch() } catch { fault = error }
            if let fault, !isStopped {
                lastTrouble = Failure(fault)
                if fault != toldFault { tell(.trouble(fault)) }
                toldFault = fault
            }
            if start.duration(to: .now) > .seconds(300) { failures = 0 }
            guard !isStopped else { break }
            if isRemoved {
                isRemoved = false
                // `rm -rf` may still be at work, and would remove files of the new store too.
                guard (try? await around.sleep(.seconds(1))) != nil else { break }
                continue
            }
            let pause = min(Duration.seconds(300), .seconds(5) * (1 << min(failures, 6)))
            failures += 1
            guard await wait(pause, fault) else { break }
        }
        right = nil
        around.ports.release(of: name)
    }

    /// Waits for the next launch.
    ///
    /// Versions are downloaded meanwhile if only the port is missing.
    ///
    /// - Returns: false if the task was cancelled.
    private func wait(_ pause: Duration, _ fault: RunnerFault?) async -> Bool {
        guard let fault, fault.isTakenPort, let device = try? device() else {
            return (try? await around.sleep(pause)) != nil
        }
        let (stream, steps) = AsyncStream.makeStream(of: Step.self)
        let pausing = Task { [sleep = around.sleep] in try await sleep(pause) }
        (self.steps, self.pausing, awaitsPort) = (steps, pausing, true)
        defer { (self.steps, self.pausing, awaitsPort) = (nil, nil, false) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.look(stream, device, nil) }
            let isOver = await withTaskCancellationHandler {
                (try? await pausing.value) != nil
            } onCancel: {
                pausing.cancel()
            }
            // A sync under way is finished first.
            steps.finish()
            return isOver || isRemoved
        }
    }

    /// Returns once its pages are served no more and its trial is stopped cleanly.
    package func stop() async {
        isStopped = true
        steps?.finish()
        let last = server
        (server, address, planned) = (nil, nil, nil)
        around.ports.release(of: name)
        await last?.stop()
    }

    /// One launch, from its beginning to its end.
    private func launch() async throws(RunnerFault) {
        let opening: Opening
        do throws(SyncError) {
            try await prepare()
            opening = try await Device.open(
                try around.open(settings.store),
                now: around.now,
                machine: around.machine
            )
        } catch { throw .device(error) }
        if let trouble = opening.trouble { tell(.trouble(.device(trouble))) }
        var device = opening.device
        device.atCommitPoint = around.atCommitPoint
        let proxying = try RunnerFault.proxying(settings.proxy, settings.proxies, files: device.store.files)
        guard let proxying else { return try await serve(device, nil) }
        let report = around.report
        let settings = settings
        do {
            try await device.proxying(proxying, report: { report(settings, .proxy($0)) }) { proxy in
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
        let server = LocalServer(device: device, settings: settings.serving(around.deadlines), delegate: proxy) {
            [settings, report = around.report, store = device.store] event in
            if event.isTrouble, Self.isRemoved(store) {
                steps.yield(.removed)
                return
            }
            if let outcome = Schedule.Outcome(event) { steps.yield(.synced(outcome)) }
            report(settings, .app(event))
        }
        self.server = server
        defer {
            (self.server, address, self.steps) = (nil, nil, nil)
            hold?.cancel()
            isInBackground = false
        }
        let address: LocalServer.Address
        do throws(LocalServerError) { address = try await server.start() } catch .portInUse(let port) {
            throw .portTaken(port, by: around.holderOfPort(port))
        } catch { throw .server(error) }
        if isStopped { return await server.stop() }
        (lastTrouble, toldFault, planned) = (nil, nil, nil)
        defer { planned = nil }
        let sign = settings.serves ? announce(address, of: device.store) : nil
        defer { withExtendedLifetime(sign) {} }
        if settings.serves {
            self.address = address
            tell(.listening(address))
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
        if let other = around.ports.claim(port, for: name) { throw .portTaken(port, by: .store(other)) }
    }

    /// The report of ``LocalServer`` has the same events.
    private func syncWithoutPages(_ wish: Updates.Wish) async throws(SyncError) -> SyncReport {
        let result: Result<SyncReport, SyncError>
        do throws(SyncError) {
            result = .success(
                try await device().sync(wish, around.deadlines) { [settings, report = around.report] event in
                    report(settings, .app(.syncing(event)))
                }
            )
        } catch { result = .failure(error) }
        // A sync that ends with the daemon is no failure, and a store that is gone is made again.
        guard !isStopped else { return try result.get() }
        if case .failure = result, (try? around.open(settings.store)).map(Self.isRemoved) == true {
            steps?.yield(.removed)
            return try result.get()
        }
        let event = LocalServer.Event.synced(result)
        if let outcome = Schedule.Outcome(event) { steps?.yield(.synced(outcome)) }
        tell(.app(event))
        return try result.get()
    }

    private func announce(_ address: LocalServer.Address, of store: DeviceStore) -> LiveFile? {
        store.announcing(
            RunningServer(
                process: Int(ProcessID.own),
                port: address.port,
                hasOwnHost: address.host != LocalServer.Address.sharedHost
            )
        )
    }

    private func tell(_ event: StoreEvent) { around.report(settings, event) }

    // MARK: Looking for new versions

    /// - Parameter server: nil while another listener has the port.
    private func look(_ stream: AsyncStream<Step>, _ device: Device, _ server: LocalServer?) async {
        var timer: Task<Void, Never>?
        var network: Task<Void, Never>?
        defer {
            timer?.cancel()
            network?.cancel()
        }
        func plan(_ look: NextLook?) {
            timer?.cancel()
            timer = nil
            planned = look.map { ($0, .now) }
            guard let look else { return }
            timer = Task { [sleep = around.sleep, steps] in
                do {
                    if look.seconds > 0 { try await sleep(.seconds(look.seconds)) }
                    steps?.yield(.due)
                } catch {
                    // Another look is planned.
                }
            }
        }
        if hasOtherSource {
            hasOtherSource = false
            plan(NextLook(seconds: 0, reason: .interval))
        } else if let left = nextLook() {
            // Planned before this try to get the port.
            plan(left)
        } else {
            plan(schedule.first(age: device.timeSinceSync(), isInstalled: isInstalled, random: around.random()))
        }
        for await step in stream {
            switch step {
            case .due:
                planned = (NextLook(seconds: 0, reason: .now), .now)
                lastTry = .now
                do throws(SyncError) {
                    if let server {
                        _ = try await server.sync(Updates.Wish())
                    } else {
                        _ = try await syncWithoutPages(Updates.Wish())
                    }
                } catch .lock(.held) {
                    plan(next(after: .busy))
                } catch {
                    // As an event, like everybody else's.
                }
            case .synced(let outcome):
                lastTry = .now
                plan(next(after: outcome))
                await switchIfNobodyLooks()
                around.lullBegan()
            case .holdEnded: await switchIfNobodyLooks()
            case .removed:
                guard !isRemoved else { break }
                isRemoved = true
                tell(.removed)
                pausing?.cancel()
                await server?.stop()
            case .network:
                guard let look = schedule.networkCame(age: lastTry?.duration(to: .now) ?? Schedule.networkPause)
                else { break }
                plan(look)
            }
            if schedule.awaitsNetwork, network == nil {
                network = Task { [changes = around.networkChanges, steps] in
                    for await _ in changes { steps?.yield(.network) }
                }
            } else if !schedule.awaitsNetwork {
                network?.cancel()
                network = nil
            }
        }
    }

    private func next(after outcome: Schedule.Outcome) -> NextLook? {
        schedule.next(after: outcome, isInstalled: isInstalled, random: around.random())
    }

    private var isInstalled: Bool {
        guard let state = try? device().state().machine.state else { return false }
        return if case .empty = state { false } else { true }
    }

    /// What is staged starts where no page can be disturbed: in the background, and before any page was loaded (E7).
    ///
    /// What has to wait for a launch waits for one all the same (J4).
    private func switchIfNobodyLooks() async {
        guard let server, isInBackground || !server.hasPages,
            let state = try? device().state(), case .pending(_, let next) = state.machine.state,
            next.activates != .atNextLaunch
        else { return }
        do throws(SyncError) { try await server.startPending() } catch .nothingPending {} catch .heldBack(let held) {
            let pause = held.until.since(around.now())
            hold?.cancel()
            hold = Task { [sleep = around.sleep, steps] in
                if (try? await sleep(pause)) != nil { steps?.yield(.holdEnded) }
            }
        } catch {
            tell(.trouble(.device(error)))
        }
    }
}
