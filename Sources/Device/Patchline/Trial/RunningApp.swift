package import AssetServer
import HTTPFiles
import PatchChoice
import PatchFormat
import PatchStore
package import PatchSync
import ServiceLifecycle

/// One launch of an app on this device. It selects the active versions, serves them, runs the startup timer, and follows changes of
/// `state.json` by other processes.
///
/// The writer lock is held for each change, not for the whole launch.
package actor RunningApp: Service {
    private(set) var device: Device
    let server: AssetServer
    /// Receives the events for the pages.
    private let pages: PageEvents
    let updates: Updates?
    /// All syncs of this app pass through this gate.
    let gate: SyncGate
    private(set) var settings: Settings
    /// The number of clients rejected for lack of capacity.
    ///
    /// The startup timer pauses when it rises.
    let turnedAway: @Sendable () -> Int
    var seenTurnedAway = 0
    let report: @Sendable (DeviceEvent) -> Void
    let waiting: Waiting
    private let clock = ContinuousClock()

    private(set) var serving: Selection?
    /// The online parameters as last read, or nil before the launch.
    private(set) var known: OnlineParameters?
    /// The manifest that a sync must heal before anything is served, if any.
    private(set) var damaged: String?
    var trial: RunningTrial? {
        didSet {
            if !isCounting { gate.open() }
            if (trial?.nextQuestion != nil) != (oldValue?.nextQuestion != nil) { recheck() }
        }
    }
    /// Scripts that failed in pages, each with its last failure.
    var failedScripts: [ScriptFailure] = []
    /// Versions whose stale pages were reported.
    var staleVersions: Set<String> = []
    private(set) var isInBackground = false
    /// Requests another check by ``run()``; nil while it does not run.
    var looks: AsyncStream<Void>.Continuation?
    /// The watch failure that was already reported.
    var unwatched: FileError?
    var isCounting: Bool { trial?.isCounting == true && !isInBackground }
    /// The state fault that was already reported.
    private var fault: StateFault?
    /// When the pending version may start if it was postponed.
    private(set) var holdEnds: UTCTime?
    /// Whether the previous selection was still served at the last look.
    package var hadPrevious = false
    private let start = ContinuousClock.now
    /// The time on the monotonic clock.
    var time: Duration { start.duration(to: clock.now) }

    /// - Parameters:
    ///   - updates: Runs the syncs that pages request. Nil for none.
    ///   - gate: Lets the syncs pass.
    ///   - turnedAway: The number of clients that the server has rejected for lack of capacity.
    ///   - waiting: Waits for changes and timers.
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

    /// Launches the app.
    ///
    /// When this returns, the server has a selection to serve.
    ///
    /// Call it once, before ``run()`` and before the server listens.
    package func launch() async throws(SyncError) {
        try reportFault()
        try show(try await device.launch(limit: settings.launchLimit, counting: settings.startupTimer))
        await openIfPageless()
        await attempt { [self] () throws(SyncError) in try followParameters() }
    }

    /// Pauses the startup timer, because the app is in the background.
    ///
    /// A launch that ends now does not count.
    package func background() async throws(SyncError) {
        isInBackground = true
        guard let token = trial?.token else { return }
        trial?.timer.pause(at: time)
        try await device.stoppedCleanly(token)
    }

    /// Resumes the startup timer, because the app is in the foreground again.
    package func foreground() async throws(SyncError) {
        isInBackground = false
        trial?.timer.resume(at: time)
        guard isCounting, let token = trial?.token else { return }
        await gate.close(waitingUpTo: settings.syncPatience)
        guard isCounting, trial?.token == token else { return }
        try await device.recordForeground(token)
    }

    /// Starts the pending selection, because the page is about to reload.
    ///
    /// - Throws: `nothingPending`, or `waitsForLaunch` if it must not start inside a running app.
    package func startPending(isRequested: Bool = false) async throws(SyncError) {
        try show(try await device.switchToPending(counting: settings.startupTimer, isRequested: isRequested))
        await openIfPageless()
    }

    /// Serves the selection that config.json and state.json name now.
    func follow() async throws(SyncError) {
        try await followChannel()
        try reportFault()
        holdEnds = try device.activationHold()?.until
        let machine = try device.state().machine
        reportReplacement(in: machine)
        switch machine.state {
        case .empty:
            if serving != nil || trial != nil { try show(.nothing) }
        case .pending(let good, let next) where startsByItself(next, over: good):
            // Another process may be faster. The next check follows its change.
            let isSeen = serving != nil
            do throws(SyncError) { try await startPending() } catch .nothingPending { return }
            if isSeen { pages.notify(.reload) }
        case .pending(nil, let next):
            // A selection that was never confirmed stays until it is replaced.
            if trial != nil { trial = nil }
            if serving != nil { pages.notify(.ready(version: version(of: next))) }
        case .settled(let selection), .pending(let selection?, _):
            // A trial that ends without a replacement is over as well.
            let isConfirmed = try device.state().machine.confirmedLaunch == trial?.token
            if trial != nil, isConfirmed, serving?.contents == selection.contents { report(.confirmed(selection)) }
            if serving?.contents != selection.contents || trial != nil || damaged != nil {
                try show(.run(selection, removed: []))
            }
            if case .pending(_, let next) = try device.state().machine.state {
                pages.notify(.ready(version: version(of: next)))
            }
        case .trying(_, let selection, let launch):
            if trial?.token != launch.token || damaged != nil { try show(.tryOut(selection, launch.token)) }
            await openIfPageless()
        }
    }

    private func reportFault() throws(SyncError) {
        let found = try device.store.stateFault(of: device.configuration.channel)
        if let found, found != fault { report(.stateFault(found)) }
        fault = found
    }

    private func startsByItself(_ next: Selection, over good: Selection?) -> Bool {
        guard (try? device.activationHold()) == .some(nil) else { return false }
        return switch next.activates {
        case .atOnce: true
        case .anyTime: settings.runsScripts || good == nil && serving == nil
        // No running selection is disturbed by a start, or only scripts are removed (J9).
        case .atReload:
            good == nil && serving == nil
                || settings.runsScripts && good.map { next.leavesOutScriptsAlone(of: $0) } == true
        case .atNextLaunch: false
        }
    }

    /// Continues the launch in another channel.
    ///
    /// The trial in the old channel does not count this launch.
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

    /// Reads the online parameters again, because another process may have fetched them.
    func followParameters() throws(SyncError) {
        let parameters = try device.parameters()
        guard parameters != known else { return }
        let before = known
        known = parameters
        pages.notify(.parameters(tag: parameters.values.isEmpty ? nil : page(of: parameters).tag))
        if let before, before.values != parameters.values { report(.parametersChanged(parameters)) }
    }

    func page(of parameters: OnlineParameters) -> PageParameters {
        PageParameters(channel: parameters.channel.text, values: parameters.values)
    }

    func show(_ activation: SelectionMachine.Activation) throws(SyncError) {
        defer {
            if !server.isServing { updates?.searchForFirstVersion() }
            recheck()
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
        // The page that did not confirm belongs to the version that was rolled back.
        pages.notify(.reload)
    }

    /// Serves a selection, then reports the event: a client that receives it and queries the server must see the new state.
    private func serve(_ selection: Selection, token: LaunchToken?, after event: DeviceEvent? = nil) throws(SyncError) {
        let digest = selection.bundle(settings.bundle)?.fingerprint.sha256
        let opened = try device.open(selection, bundle: settings.bundle) { [report, server] file in
            // No sync heals a file that only pages of the previous release request.
            if server.isCurrent(digest) { report(.damaged([file])) }
        }
        let isSame = serving?.contents == selection.contents && trial?.token == token
        serving = selection
        if opened == nil { reportMissingBundle(in: selection) }
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

    /// The version of the served bundle.
    func version(of selection: Selection) -> String? {
        selection.bundle(settings.bundle)?.version.text
    }

    var events: [PageEvent] { pages.recent }

    /// Applies another startup timeout from the next check of the trial, and another start of the timer from the next trial.
    func adjust(_ new: Settings) {
        settings.startupTimeout = new.startupTimeout
        settings.startupTimer = new.startupTimer
    }

    var startupTimer: StartupTimer {
        var timer = StartupTimer(limit: settings.startupTimeout)
        if isInBackground { timer.pause(at: time) }
        return timer
    }

    /// Runs `body`, and reports its error.
    ///
    /// Returns whether it succeeded.
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
