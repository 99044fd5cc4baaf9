package import PatchFormat
import PatchStore
import PatchTrust

/// A device's store and everything that happens on it without a network: init, launch, confirm, switch, roll back, look.
package struct Device: Sendable {
    package let store: DeviceStore
    package let configuration: DeviceConfiguration
    package var now: @Sendable () -> UTCTime
    package var random: @Sendable () -> [UInt8] = { SecureRandom.bytes(16) }
    package var atCommitPoint: @Sendable (CommitPoint) -> Void = { _ in }

    /// Opens a store that ``create(_:server:channel:facts:root:allowsTestingKeys:deviceID:)`` made.
    package init(_ store: DeviceStore, now: @escaping @Sendable () -> UTCTime) throws(SyncError) {
        self.store = store
        self.now = now
        configuration = try store.configuration()
    }

    /// Makes a store.
    ///
    /// The root of trust comes from a file that the app carries: there is no trust on first use.
    ///
    /// - Parameter root: must be signed by itself and name its app.
    package static func create(
        _ store: DeviceStore,
        server: ServerURL,
        channel: ChannelName,
        facts: FactChanges = FactChanges(),
        root: [UInt8],
        allowsTestingKeys: Bool,
        deviceID: [UInt8] = SecureRandom.bytes(16)
    ) throws(SyncError) {
        let trusted: TrustedMetadata
        // Whether it has expired is looked at when something new is taken.
        do throws(TrustError) { trusted = try TrustedMetadata(trustedRoot: root, at: ReferenceTime.never) } catch {
            throw .trust(error)
        }
        guard let app = trusted.root.app else { throw .rootNamesNoApp }
        if !allowsTestingKeys, let role = RootRole.roleNames.first(where: { trusted.root.keys(of: $0).holdsTestingKey })
        {
            throw .testingKeys(role: role)
        }
        var configuration = DeviceConfiguration(app: app, server: server, channel: channel)
        facts.apply(to: &configuration)
        try DeviceStore.create(store, configuration: configuration, rootBytes: root, deviceID: deviceID)
    }

    package func state() throws(SyncError) -> DeviceState {
        try store.state(of: configuration.channel)
    }

    // MARK: Launch, confirm, roll back

    /// The app starts: decides what runs, and saves that before anything is served.
    ///
    /// Where nothing can be saved, what was confirmed runs.
    package func launch(limit: Int = SelectionMachine.defaultLaunchLimit) async throws(SyncError)
        -> SelectionMachine.Activation
    {
        let activation: SelectionMachine.Activation
        do throws(SyncError) {
            activation = try await changing { state throws(SyncError) in
                state.machine.launch(token: LaunchToken(random: random()), at: now(), launchLimit: limit)
            }
        } catch {
            guard error.isDiskThatTakesNothing else { throw error }
            return try state().machine.unsavedLaunch
        }
        atCommitPoint(.afterLaunch)
        try await cleanUp(after: activation)
        return activation
    }

    package func switchToPending() async throws(SyncError) -> SelectionMachine.Activation {
        let activation = try await changing { state throws(SyncError) in
            if case .pending(_, let next) = state.machine.state, next.activates == .atNextLaunch {
                throw .waitsForLaunch
            }
            guard let activation = state.machine.switchToPending(token: LaunchToken(random: random())) else {
                throw .nothingPending
            }
            return activation
        }
        try await cleanUp(after: activation)
        return activation
    }

    package func confirm(_ token: LaunchToken) async throws(SyncError) -> SelectionMachine.Confirmation {
        let confirmation = try await changing { state throws(SyncError) in
            state.machine.confirm(token, keep: configuration.keep)
        }
        if case .confirmed = confirmation { try await removeUnused() }
        return confirmation
    }

    package func timerEnded(_ token: LaunchToken) async throws(SyncError) -> SelectionMachine.Activation? {
        try await changing { state throws(SyncError) in state.machine.timerEnded(token, at: now()) }
    }

    package func stoppedCleanly(_ token: LaunchToken) async throws(SyncError) {
        try await changing { state throws(SyncError) in state.machine.stoppedCleanly(token) }
    }

    /// The app is in front again: what becomes of this launch counts.
    package func cameBack(_ token: LaunchToken) async throws(SyncError) {
        try await changing { state throws(SyncError) in state.machine.cameBack(token) }
    }

    package func rollBack() async throws(SyncError) -> SelectionMachine.Activation {
        try await changing { state throws(SyncError) in
            guard let activation = state.machine.rollBack(at: now()) else { throw .nothingToRollBackTo }
            return activation
        }
    }

    private func changing<Result>(
        _ change: (inout DeviceState) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try await store.changingState(of: configuration.channel, change)
    }

    // MARK: Clean-up

    private func cleanUp(after activation: SelectionMachine.Activation) async throws(SyncError) {
        if case .run(_, let removed) = activation, !removed.isEmpty { try await removeUnused() }
    }

    /// Removes every bundle and object that no kept selection of any channel needs: the present one and the one
    /// confirmed before stay (M15).
    ///
    /// Not while a sync runs: its objects belong to no selection yet.
    package func removeUnused() async throws(SyncError) {
        do throws(SyncError) {
            try await store.syncing { () throws(SyncError) in try CleanUp(store: store).run() }
        } catch .lock(.held) {
            return
        }
    }
}
