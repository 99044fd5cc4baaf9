import PatchChoice
package import PatchFormat
import PatchStore
import SystemPackage

extension DeviceStore {
    /// Reads the state, changes it and saves it, under the writer lock.
    ///
    /// The lock is held only for the change, so that a page can confirm while a sync downloads.
    package func changingState<Result>(
        of channel: ChannelName,
        _ change: (inout DeviceState) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try await holding(writerLock, waitingUpTo: .seconds(5)) { () throws(SyncError) in
            let found = try foundState(of: channel)
            var state = found.state
            let result = try change(&state)
            if state != found.state || found.fault != nil { try save(state, of: channel) }
            return result
        }
    }

    /// Reads the configuration, changes it and saves it, under the writer lock.
    ///
    /// The pending version was chosen for the app as it was. If the app's version or platform changes, the next sync chooses again.
    /// The same applies if signatures become required, because the pending version may lack them.
    @discardableResult
    package func changingConfiguration(
        _ change: (inout DeviceConfiguration) throws(SyncError) -> Void
    ) async throws(SyncError) -> DeviceConfiguration {
        try await changing { () throws(SyncError) in
            let before = try configuration()
            var configuration = before
            try change(&configuration)
            let isOtherApp = configuration.appVersion != before.appVersion || configuration.platform != before.platform
            let isStricter = before.entrySignatures != .required && configuration.entrySignatures == .required
            if isOtherApp || isStricter {
                for channel in Set(try channels() + [configuration.channel]).sorted() {
                    var state = try state(of: channel)
                    let stateBefore = state
                    state.machine.forgetPending()
                    if state != stateBefore { try save(state, of: channel) }
                }
            }
            if configuration != before { try save(configuration) }
            return configuration
        }
    }

    /// Runs `body` under the writer lock.
    func changing<Result>(_ body: () throws(SyncError) -> Result) async throws(SyncError) -> Result {
        try await holding(writerLock, waitingUpTo: .seconds(5)) { () throws(SyncError) in try body() }
    }

    /// Runs `body` as the only sync of the store.
    ///
    /// - Parameters:
    ///   - patience: How long to wait while another process syncs. Afterwards, the error names that process.
    ///   - whenHeld: Called once before a wait, with the id of that process if it is known.
    package func syncing<Result>(
        waitingUpTo patience: Duration = .zero,
        whenHeld: (Int?) -> Void = { _ in },
        _ body: () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try await holding(syncLock, waitingUpTo: patience, whenHeld: whenHeld, body)
    }

    private func holding<Result>(
        _ path: FilePath,
        waitingUpTo deadline: Duration,
        whenHeld: (Int?) -> Void = { _ in },
        _ body: () async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try checkOwnFolders()
        guard isShared else { return try await body() }
        let lock: StoreLock
        do throws(StoreLockError) {
            lock = try StoreLock(path)
        } catch .held(_, let process) where deadline > .zero {
            whenHeld(process)
            do throws(StoreLockError) {
                lock = try await StoreLock(path, waitingUpTo: deadline, clock: ContinuousClock())
            } catch { throw .lock(error) }
        } catch { throw .lock(error) }
        let result = try await body()
        extendLifetime(lock)
        return result
    }

    /// Rejects a store with a symbolic link in place of one of its folders, so that no file is written outside the store.
    ///
    /// Each file operation rejects a link as the last name of its path. This check covers the folder before it.
    ///
    /// - Throws: `notDirectory`.
    func checkOwnFolders() throws(SyncError) {
        try wrapped { () throws(FileError) in
            for folder in ownFolders { try files.checkFolders(to: folder, from: folder) }
        }
    }

    private var ownFolders: [FilePath] {
        ["trust", "channels", "signatures", "serving", "servers", "quarantine"].map { root.at($0) }
            + [objects.root, objects.incoming, bundles, downloading, indexes]
    }
}
