package import AssetServer
import HTTPFiles
import PatchChoice
import PatchFormat
import PatchStore
package import PatchSync
import ServiceLifecycle

/// One launch of an app on this device: decides what runs, serves it, owns the startup timer, and follows changes of
/// `state.json` by other processes.
///
/// The writer lock is held for each change, never for the life of the launch.
package actor RunningApp: Service {
    private(set) var device: Device
    let server: AssetServer
    /// Gets the events for the pages.
    private let pages: PageEvents
    let updates: Updates?
    /// Every sync of this app goes through it.
    let gate: SyncGate
    private(set) var settings: Settings
    /// How many clients found no room; the startup timer pauses meanwhile.
    let turnedAway: @Sendable () -> Int
    var seenTurnedAway = 0
    let report: @Sendable (DeviceEvent) -> Void
    let waiting: Waiting
    private let clock = ContinuousClock()

    private(set) var serving: Selection?
    /// As last read; nil before the launch.
    private(set) var known: OnlineParameters?
    /// The manifest that a sync must heal before anything is served, if any.
    private(set) var damaged: String?
    var trial: RunningTrial? {
        didSet {
            if !isCounting { gate.open() }
            if (trial?.nextQuestion != nil) != (oldValue?.nextQuestion != nil) { lookAgain() }
        }
    }
    /// Scripts that failed in pages, each with its last failure.
    var failedScripts: [ScriptFailure] = []
    /// Versions whose stale pages were reported.
    var staleVersions: Set<String> = []
    private(set) var isInBackground = false
    /// Has ``run()`` look again; nil while nobody runs it.
    var looks: AsyncStream<Void>.Continuation?
    /// Told already: that nobody tells of changes.
    var unwatched: FileError?
    var isCounting: Bool { trial?.isCounting == true && !isInBackground }
    /// Reported already.
    private var fault: StateFault?
    /// When what waits may start, where people put it off.
    private(set) var holdEnds: UTCTime?
    /// Whether the previous selection was still served at the last look.
    package var hadPrevious = false
    private let start = ContinuousClock.now
    /// The steady clock's time.
    var time: Duration { start.duration(to: clock.now) }

    /// - Parameters:
    ///   - updates: makes the syncs that pages ask for; without it there are none.
    ///   - gate: lets the syncs through.
    ///   - turnedAway: how many clients the server has had no room for.
    ///   - waiting: for changes, and for time to pass.
    package init(
        device: Device,
        server: AssetServer,
        updates: Updates? = nil,
        gate: SyncGate = SyncGate(),
        settings: Settings,
        turnedAway: @escaping @Sendable () -> Int = { 0 },
        waiting: Waiting? = nil,
        report: @escaping @Sendable (DeviceEvent) -> Void
    ) {
        self.waiting = waiting ?? Waiting(for: device.store)
        self.turnedAway = turnedAway
        self.device = device
        self.server = server
        self.updates = updates
        self.gate = gate
        pages = server.events
        self.settings = settings
        self.report = report
    }

    /// Launches; afterwards the server has a selection to serve.
    ///
    /// Call once, before ``run()`` and before the server listens.
    package func launch() async throws(SyncError) {
        try tellFault()
        try show(try await device.launch(limit: settings.launchLimit, counting: settings.startupTimer))
        await openIfPageless()
        await attempt { [self] () throws(SyncError) in try followParameters() }
    }

    /// The app went to the background: the startup timer pauses, and a launch that ends now does not count.
    package func background() async throws(SyncError) {
        isInBackground = true
        guard let token = trial?.token else { return }
        trial?.timer.pause(at: time)
        try await device.stoppedCleanly(token)
    }

    /// The app is in the foreground again.
    package func foreground() async throws(SyncError) {
        isInBackground = false
        trial?.timer.resume(at: time)
        guard isCounting, let token = trial?.token else { return }
        await gate.close(waitingUpTo: settings.syncPatience)
        guard isCounting, trial?.token == token else { return }
        try await device.cameBack(token)
    }

    /// The page is about to reload: the pending selection starts.
    ///
    /// - Throws: `nothingPending`, or `waitsForLaunch` when it must not start inside a running app.
    package func startPending(isAsked: Bool = false) async throws(SyncError) {
        try show(try await device.switchToPending(counting: settings.startupTimer, isAsked: isAsked))
        await openIfPageless()
    }

    /// Serves the selection that config.json and state.json name now.
    func follow() async throws(SyncError) {
        try await followChannel()
        try tellFault()
        holdEnds = try device.activationHold()?.until
        let machine = try device.state().machine
        tellReplacement(in: machine)
        switch machine.state {
        case .empty:
            if serving != nil || trial != nil { try show(.nothing) }
        case .pending(let good, let next) where startsByItself(next, over: good):
            // Another process may be faster; the next look follows its change.
            let isSeen = serving != nil
            do throws(SyncError) { try await startPending() } catch .nothingPending { return }
            if isSeen { pages.tell(.reload) }
        case .pending(nil, let next):
            // A selection that never proved itself is to be replaced, and stays until then.
            if trial != nil { trial = nil }
            if serving != nil { pages.tell(.ready(version: version(of: next))) }
        case .settled(let selection), .pending(let selection?, _):
            // A trial that is to go without a replacement is no trial any more either.
            let isConfirmed = try device.state().machine.confirmedLaunch == trial?.token
            if trial != nil, isConfirmed, serving?.contents == selection.contents { report(.confirmed(selection)) }
            if serving?.contents != selection.contents || trial != nil || damaged != nil {
                try show(.run(selection, removed: []))
            }
            if case .pending(_, let next) = try device.state().machine.state {
                pages.tell(.ready(version: version(of: next)))
            }
        case .trying(_, let selection, let launch):
            if trial?.token != launch.token || damaged != nil { try show(.tryOut(selection, launch.token)) }
            await openIfPageless()
        }
    }

    private func tellFault() throws(SyncError) {
        let found = try device.store.stateFault(of: device.configuration.channel)
        if let found, found != fault { report(.stateFault(found)) }
        fault = found
    }

    private func startsByItself(_ next: Selection, over good: Selection?) -> Bool {
        guard (try? device.activationHold()) == .some(nil) else { return false }
        return switch next.activates {
        case .atOnce: true
        case .anyTime: settings.runsScripts || good == nil && serving == nil
        // Nothing runs that a start could disturb, or scripts are to be taken back alone (J9).
        case .atReload:
            good == nil && serving == nil
                || settings.runsScripts && good.map { next.leavesOutScriptsAlone(of: $0) } == true
        case .atNextLaunch: false
        }
    }

    /// The launch goes on in another channel; the trial that ran in the old one does not count this launch.
    private func followChannel() async throws(SyncError) {
        guard try device.store.configuration() != device.configuration else { return }
        let current = try device.reopened()
        let isOther = current.configuration.channel != device.configuration.channel
        if isOther, let trial {
            try await device.stoppedCleanly(trial.token)
            self.trial = nil
            serving = nil
        }
        device = current
        if isOther { report(.following(current.configuration.channel)) }
    }

    /// Another process may have fetched them, too.
    func followParameters() throws(SyncError) {
        let parameters = try device.parameters()
        guard parameters != known else { return }
        let before = known
        known = parameters
        pages.tell(.parameters(tag: parameters.values.isEmpty ? nil : page(of: parameters).tag))
        if let before, before.values != parameters.values { report(.parametersChanged(parameters)) }
    }

    func page(of parameters: OnlineParameters) -> PageParameters {
        PageParameters(channel: parameters.channel.text, values: parameters.values)
    }

    func show(_ activation: SelectionMachine.Activation) throws(SyncError) {
        defer {
            if !server.isServing { updates?.nothingIsServed() }
            lookAgain()
        }
        switch activation {
        case .nothing:
            if serving != nil || trial != nil { server.serve(.nothing) }
            serving = nil
            trial = nil
            report(.nothingInstalled)
        case .run(let selection, let removed):
            try serve(selection, token: nil)
            if !removed.isEmpty { report(.withdrawn(removed)) }
        case .tryOut(let selection, let token): try serve(selection, token: token)
        case .rolledBack(let good, let bad):
            let setback = try device.state().machine.setback(of: bad)
            try goBack(to: good, after: .rolledBack(to: good, from: bad, because: setback))
        case .unproven(let selection):
            trial?.isUnproven = true
            report(.unproven(selection))
        case .interrupted(let good, let trial):
            try goBack(to: good, after: .damaged(device.damage(to: trial)))
        }
    }

    private func goBack(to good: Selection?, after event: DeviceEvent) throws(SyncError) {
        if let good {
            try serve(good, token: nil, after: event)
        } else {
            server.serve(.nothing)
            report(event)
            try show(.nothing)
        }
        // The page that did not confirm belongs to the version that was taken back.
        pages.tell(.reload)
    }

    /// Reports only afterwards: a client that reads the event and asks the server gets the new answer.
    private func serve(_ selection: Selection, token: LaunchToken?, after event: DeviceEvent? = nil) throws(SyncError) {
        let digest = selection.bundle(settings.bundle)?.fingerprint.sha256
        let opened = try device.open(selection, bundle: settings.bundle) { [report, server] file in
            // No sync heals a file that only pages of the previous release ask for.
            if server.isCurrent(digest) { report(.damaged([file])) }
        }
        let isSame = serving?.contents == selection.contents && trial?.token == token
        serving = selection
        if opened == nil { tellOfMissingBundle(in: selection) }
        // A sync that heals the selection on trial does not extend its time.
        if trial?.token != token { trial = token.map { RunningTrial(token: $0, timer: startupTimer) } }
        server.serve(
            ServedSelection(
                table: opened?.table,
                launch: token?.text,
                version: version(of: selection),
                awaitsPage: trial?.isOpened == false,
                scripts: device.scripts(
                    of: selection,
                    whenDamaged: { [report] file in report(.damaged([file])) },
                    whenLeftOut: { [report] page, reason in report(.scriptsLeftOut(page: page, reason)) }
                )
            )
        )
        if let event { report(event) }
        let fault = opened?.fault
        if let fault, fault != damaged { report(.damaged([fault])) }
        let isHealed = fault == nil && damaged != nil
        damaged = fault
        if !isSame || isHealed { report(.serving(selection, trial: token)) }
    }

    /// Of the bundle that is served.
    func version(of selection: Selection) -> String? {
        selection.bundle(settings.bundle)?.version.text
    }

    var events: [PageEvent] { pages.recent }

    /// Another startup timeout holds from the next look at the trial on, and another beginning from the next trial on.
    func adjust(_ new: Settings) {
        settings.startupTimeout = new.startupTimeout
        settings.startupTimer = new.startupTimer
    }

    var startupTimer: StartupTimer {
        var timer = StartupTimer(limit: settings.startupTimeout)
        if isInBackground { timer.pause(at: time) }
        return timer
    }

    /// Whether that went well.
    @discardableResult
    func attempt(_ body: () async throws(SyncError) -> Void) async -> Bool {
        do throws(SyncError) {
            try await body()
            return true
        } catch {
            report(.trouble(error))
            return false
        }
    }
}
