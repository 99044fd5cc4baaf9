package import PatchChoice
import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// A device's store and all operations on it that need no network: init, launch, confirm, switch, roll back, inspect.
package struct Device: Sendable {
    package let store: DeviceStore
    package private(set) var configuration: DeviceConfiguration
    package var now: @Sendable () -> UTCTime
    package var zones = SystemZones()
    package var random: @Sendable () -> [UInt8] = { SecureRandom.bytes(16) }
    package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }

    /// Opens a store that ``create(_:server:channel:facts:root:access:deviceID:host:machine:embedded:appBuild:)`` created.
    ///
    /// The store is only read. ``open(_:now:machine:appBuild:random:)`` also detects another build or machine.
    package init(_ store: DeviceStore, now: @escaping @Sendable () -> UTCTime) throws(SyncError) {
        configuration = try store.configuration()
        self.now = now
        var store = store
        // An unreadable folder counts as no embedded files, and a sync then repairs the missing ones.
        if let path = configuration.embedded, let folder = try? EmbeddedFolder(path, files: store.files) {
            store.embedded = EmbeddedFiles(folder, in: store)
        } else {
            store.embedded = nil
        }
        self.store = store
    }

    /// Reads the configuration again, because another process may have changed it.
    package func reopened() throws(SyncError) -> Device {
        var device = try Device(store, now: now)
        device.random = random
        device.zones = zones
        device.atCommitPoint = atCommitPoint
        return device
    }

    /// Creates a store.
    ///
    /// The root of trust is a file of the app. There is no trust on first use.
    ///
    /// - Parameters:
    ///   - root: The root of trust. It must be signed by itself and name its app.
    ///   - host: The name for pages, unless the facts contain one.
    ///   - embedded: The embedded versions. They are verified, and run from the first start.
    package static func create(
        _ store: DeviceStore,
        server: ServerURL,
        channel: ChannelName,
        facts: FactChanges = FactChanges(),
        root: [UInt8],
        access: ServerAccess = ServerAccess(),
        deviceID: [UInt8] = SecureRandom.bytes(16),
        host: HostLabel = .make(),
        machine: MachineIdentity? = nil,
        embedded: EmbeddedFolder? = nil,
        appBuild: AppBuild? = nil
    ) throws(SyncError) {
        let trusted: TrustedRoot
        // Expiry is checked when a new version is taken.
        do throws(TrustError) {
            trusted = try TrustedRoot(anchor: root, admitting: store.admission)
        } catch { throw .trust(error) }
        guard let app = trusted.app else { throw .rootNamesNoApp }
        do throws(TLSFault) { try access.check(server) } catch { throw .fetch(.tls(error)) }
        var configuration = DeviceConfiguration(app: app, server: server, channel: channel)
        configuration.access = access
        configuration.host = host
        facts.apply(to: &configuration)
        configuration.appBuild = appBuild
        var shipped: VerifiedEmbedded?
        if let embedded {
            try embedded.document.check(appBuild)
            shipped = try VerifiedEmbedded(embedded, for: app, in: store)
            configuration.embedded = embedded.named
            configuration.embeddedDigest = embedded.sha256
            configuration.appBuild = embedded.document.appBuild ?? appBuild
        }
        try DeviceStore.create(
            store,
            configuration: configuration,
            rootBytes: root,
            identity: DeviceIdentity(deviceID: deviceID, machine: machine),
            shipped: shipped
        )
    }

    /// The state.
    ///
    /// No block or wait in it lasts longer than its full length from now, even if the clock was wrong when it was written.
    package func state() throws(SyncError) -> DeviceState {
        var state = try store.state(of: configuration.channel)
        state.machine.shortenBlocks(at: now())
        state.transfers.shorten(at: now())
        return state
    }

    // MARK: Launch, confirm, roll back

    /// Starts the app: decides which selection runs, and stores the decision before any page is served.
    ///
    /// If the state cannot be saved, the confirmed selection runs.
    ///
    /// - Parameter counting: When a trial begins to count this launch.
    package func launch(
        limit: Int = SelectionMachine.defaultLaunchLimit,
        counting: TrialStart = .launch
    ) async throws(SyncError) -> SelectionMachine.Activation {
        let activation: SelectionMachine.Activation
        do throws(SyncError) {
            activation = try await changing { state throws(SyncError) in
                if let trial = state.machine.trialAtItsLimit(limit), !damage(to: trial).isEmpty {
                    return state.machine.interruptTrial()
                }
                let isDamaged = state.machine.awaitedTrial.map { !damage(to: $0).isEmpty } ?? false
                let before = state.machine.state
                let activation = state.machine.launch(
                    token: LaunchToken(random: random()),
                    at: now(),
                    launchLimit: limit,
                    isPendingDamaged: isDamaged,
                    isHeld: hold(on: state) != nil,
                    counting: counting
                )
                state.endPostponement(after: before)
                return activation
            }
        } catch {
            guard error.isReadOnlyDisk else { throw error }
            return try state().machine.unsavedLaunch
        }
        atCommitPoint(.afterLaunch)
        await cleanUp(after: activation)
        return activation
    }

    /// - Parameter isRequested: Whether a user of this device requests it, which ends a postponement and ignores maintenance windows.
    /// - Throws: `heldBack` if the pending selection must not start yet.
    package func switchToPending(
        counting: TrialStart = .launch,
        isRequested: Bool = false
    ) async throws(SyncError) -> SelectionMachine.Activation {
        let activation = try await changing { state throws(SyncError) in
            if case .pending(_, let next) = state.machine.state, next.activates == .atNextLaunch {
                throw .waitsForLaunch
            }
            if !isRequested, let hold = hold(on: state) { throw .heldBack(hold) }
            let before = state.machine.state
            guard
                let activation = state.machine.switchToPending(token: LaunchToken(random: random()), counting: counting)
            else {
                throw .nothingPending
            }
            state.endPostponement(after: before)
            return activation
        }
        await cleanUp(after: activation)
        return activation
    }

    package func confirm(_ token: LaunchToken) async throws(SyncError) -> SelectionMachine.Confirmation {
        let confirmation = try await changing { state throws(SyncError) in
            state.machine.confirm(token, keep: configuration.keep)
        }
        if case .confirmed = confirmation { try await removeUnused() }
        return confirmation
    }

    /// Rolls the launch's selection back after its startup timer ended, unless its files were altered meanwhile.
    package func timerEnded(_ token: LaunchToken) async throws(SyncError) -> SelectionMachine.Activation? {
        try await changing { state throws(SyncError) in
            if let trial = state.machine.trial(of: token), !state.machine.isUnproven, !damage(to: trial).isEmpty {
                return state.machine.interruptTrial()
            }
            return state.machine.timerEnded(token, at: now())
        }
    }

    /// Rolls a trial back after a script failed in a page of its launch, unless its files were altered meanwhile.
    ///
    /// - Parameter error: The script's error, stored with the block.
    package func scriptFailed(
        _ script: PatchContent,
        in token: LaunchToken?,
        error: PageError? = nil
    ) async throws(SyncError) -> SelectionMachine.ScriptVerdict {
        try await changing { state throws(SyncError) in
            if let token, let trial = state.machine.trial(of: token), trial.contents.contains(script),
                !state.machine.isUnproven, !damage(to: trial).isEmpty
            {
                return .ends(state.machine.interruptTrial())
            }
            return state.machine.scriptFailed(script, in: token, at: now(), error: error)
        }
    }

    /// Records an error of a page of this launch.
    ///
    /// The first one of a trial is kept, to explain a rollback.
    ///
    /// - Returns: whether the error was kept.
    package func pageFailed(_ error: PageError, in token: LaunchToken) async throws(SyncError) -> Bool {
        // Checked without the lock first, so that a page that throws repeatedly causes no write and no wait.
        guard case .trying(_, _, let launch) = try state().machine.state, launch.token == token, launch.error == nil
        else { return false }
        return try await changing { state throws(SyncError) in state.machine.pageFailed(error, in: token) }
    }

    /// Durably records that a page of this launch was requested.
    ///
    /// From now on the launch counts.
    ///
    /// - Returns: false if the launch is no longer on trial, or if it is another one's.
    package func pageRequested(_ token: LaunchToken) async throws(SyncError) -> Bool {
        try await changing { state throws(SyncError) in state.machine.pageRequested(token) }
    }

    package func stoppedCleanly(_ token: LaunchToken) async throws(SyncError) {
        try await changing { state throws(SyncError) in state.machine.stoppedCleanly(token) }
    }

    /// Records that the app is in the foreground again, so that the launch's outcome counts.
    package func recordForeground(_ token: LaunchToken) async throws(SyncError) {
        try await changing { state throws(SyncError) in state.machine.recordForeground(token) }
    }

    package func rollBack() async throws(SyncError) -> SelectionMachine.Activation {
        try await changing { state throws(SyncError) in
            guard let activation = state.machine.rollBack(at: now()) else { throw .nothingToRollBackTo }
            // A manual rollback ends the approval.
            state.approved.remove(Set(state.machine.blocks.blocks.filter { $0.value.reason == .person }.keys))
            return activation
        }
    }

    /// Forgets failed trials and transfers, so that the next sync installs the versions again (M13).
    ///
    /// - Parameter ids: The only patches to forget, or nil for all.
    /// - Returns: the versions that were blocked or waiting, by id.
    package func forgetFailures(of ids: Set<PatchID>? = nil) async throws(SyncError) -> ForgottenFailures {
        try await changing { state throws(SyncError) in
            let listed = listDecisions(state)?.listed
            let before =
                state.machine.blocks.blocks.map { ($0.key, $0.value.version) }
                + state.transfers.counts.map { ($0.key, $0.value.version) }
            let gone = before.filter { content, _ in listed.map { !$0.contains(content) } ?? false }
            let labels = state.machine.clearBlocks(of: ids) + state.transfers.clear(of: ids)
            return ForgottenFailures(
                labels,
                unlisted: Set(gone.map { Label(patchID: $0.0.patchID, version: $0.1) })
            )
        }
    }

    private func changing<Result>(
        _ change: (inout DeviceState) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try await store.changingState(of: configuration.channel, change)
    }

    // MARK: Clean-up

    /// Removes unused files.
    ///
    /// Files that cannot be removed now are removed later, because no launch depends on it.
    private func cleanUp(after activation: SelectionMachine.Activation) async {
        if case .run(_, let removed) = activation, !removed.isEmpty { try? await removeUnused() }
    }

    /// Removes every bundle and object that no kept selection of any channel needs.
    ///
    /// The present selection and the one confirmed before it stay (M15).
    ///
    /// Must not run during a sync, because its objects do not belong to a selection yet.
    package func removeUnused() async throws(SyncError) {
        do throws(SyncError) {
            try await store.syncing { () throws(SyncError) in
                try await store.changing { () throws(SyncError) in
                    for channel in try store.channels() { try store.updatePreviousState(of: channel) }
                }
                try CleanUp(store: store).run()
            }
        } catch .lock(.held) {
            return
        }
    }
}

extension Device {
    /// The online parameters of the present channel, as verified last, without network access.
    package func parameters() throws(SyncError) -> OnlineParameters {
        let (app, channel) = (configuration.app, configuration.channel)
        guard let bytes = try store.parameters(of: channel) else { return OnlineParameters(app: app, channel: channel) }
        do throws(FormatError) {
            return try OnlineParameters(bytes, named: store.parametersFile(channel).string)
        } catch { throw .format(error) }
    }
}
