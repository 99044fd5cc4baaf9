import APIProxy
import HTTPFiles
import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
package import PatchSync
package import Patchline
package import SystemPackage

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
    private var lastTrouble: String?
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

    package func trouble() -> String? { server == nil ? lastTrouble : nil }

    package func nextLook() -> NextLook? {
        guard let planned else { return nil }
        let passed = planned.at.duration(to: .now)
        let left = max(.zero, .seconds(planned.look.seconds) - passed)
        return NextLook(seconds: left.wholeSeconds, reason: planned.look.reason)
    }

    package func sync(_ wish: SyncWish) async throws(SyncError) -> SyncReport {
        var own = Updates.Wish()
        (own.isMetered, own.retriesFailed) = (wish.isMetered, wish.retriesFailed)
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
        guard let server else { throw .notKept(lastTrouble) }
        return server
    }

    // MARK: Running

    /// Takes the right to serve the store, and makes the store where the settings say of what.
    ///
    /// - Throws: `lock(.held)` while another process serves it.
    package func prepare() throws(SyncError) {
        let store = try around.open(settings.store)
        if right == nil { right = try store.servingRight() }
        guard !isMade, let origin = settings.origin else { return }
        let root: [UInt8]
        do throws(FileError) { root = try DiskFiles().read(origin.root, limit: Limits.root) } catch {
            // A store that is there needs it no more.
            if (try? store.configuration()) != nil { return }
            throw .file(error)
        }
        defer { isMade = (try? store.configuration()) != nil }
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
        switch creation {
        case .made: tell(.made)
        case .unchanged: break
        case .differs(let names): tell(.differs(names))
        }
    }

    /// Until ``stop()``; what ends before it is started again, after a while.
    package func run() async {
        var failures = 0
        while !isStopped {
            let start = ContinuousClock.now
            do throws(RunnerFault) { try await launch() } catch {
                lastTrouble = "\(error)"
                if !isStopped { tell(.trouble(error)) }
            }
            if start.duration(to: .now) > .seconds(300) { failures = 0 }
            guard !isStopped else { break }
            let pause = min(Duration.seconds(300), .seconds(5) * (1 << min(failures, 6)))
            failures += 1
            guard (try? await around.sleep(pause)) != nil else { break }
        }
        right = nil
    }

    /// Returns once its pages are served no more and its trial is stopped cleanly.
    package func stop() async {
        isStopped = true
        steps?.finish()
        let last = server
        (server, address, planned) = (nil, nil, nil)
        await last?.stop()
    }

    /// One launch, from its beginning to its end.
    private func launch() async throws(RunnerFault) {
        let opening: Opening
        do throws(SyncError) {
            try prepare()
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
        } catch { throw error as? RunnerFault ?? .other(String(describing: error)) }
    }

    private func serve(_ device: Device, _ proxy: (any RequestDelegate)?) async throws(RunnerFault) {
        guard !isStopped else { return }
        let (stream, steps) = AsyncStream.makeStream(of: Step.self)
        self.steps = steps
        let server = LocalServer(device: device, settings: settings.serving(around.deadlines), delegate: proxy) {
            [settings, report = around.report] event in
            if let outcome = Schedule.Outcome(event) { steps.yield(.synced(outcome)) }
            report(settings, .app(event))
        }
        self.server = server
        defer {
            (self.server, address, planned, self.steps) = (nil, nil, nil, nil)
            hold?.cancel()
            isInBackground = false
        }
        let address: LocalServer.Address
        do throws(LocalServerError) { address = try await server.start() } catch { throw .server(error) }
        if isStopped { return await server.stop() }
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

    private func look(_ stream: AsyncStream<Step>, _ device: Device, _ server: LocalServer) async {
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
        plan(schedule.first(age: device.timeSinceSync(), isInstalled: isInstalled, random: around.random()))
        for await step in stream {
            switch step {
            case .due:
                planned = (NextLook(seconds: 0, reason: .now), .now)
                lastTry = .now
                do throws(SyncError) { _ = try await server.sync(Updates.Wish()) } catch .lock(.held) {
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
