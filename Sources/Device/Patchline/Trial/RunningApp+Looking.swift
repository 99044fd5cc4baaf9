import AssetServer
import Linux
import PatchFormat
package import PatchStore
package import PatchSync
import ServiceLifecycle
import SystemPackage

/// A running app follows file changes: it checks its files when the system reports a change, and when a timer ends. It does not
/// wake up in between.
extension RunningApp {
    /// How an app learns of changes, and how it waits.
    package struct Waiting: Sendable {
        /// Begins to watch, and calls back after each change; nil if files are only checked by a timer.
        package var watch: (@Sendable (_ changed: @escaping @Sendable () -> Void) throws(FileError) -> any FolderWatch)?
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        /// A store in memory has no change notifications.
        package init(for store: DeviceStore) {
            guard store.isShared else { return }
            watch = { [root = store.root] changed throws(FileError) in try FolderChanges(of: root, changed) }
        }
    }

    /// Follows state and timer until the task is cancelled or the service group stops.
    package func run() async {
        let (looks, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.looks = wake
        let watch = watching { wake.yield() }
        await withGracefulShutdownHandler {
            // Check once at the start: another process may have written since the launch.
            wake.yield()
            var seen: [FileIdentity?] = []
            var timer: Task<Void, Never>?
            for await _ in looks {
                timer?.cancel()
                guard !Task.isCancelled, !Task.isShuttingDownGracefully else { break }
                let pause = await look(&seen, with: watch)
                timer = pause.map { pause in
                    Task { [sleep = waiting.sleep] in
                        if (try? await sleep(pause)) != nil { wake.yield() }
                    }
                }
            }
            timer?.cancel()
        } onGracefulShutdown: {
            wake.yield()
        }
        self.looks = nil
        watch?.end()
        if let trial { await attempt { [device] () throws(SyncError) in try await device.stoppedCleanly(trial.token) } }
    }

    func recheck() { looks?.yield() }

    /// - Returns: The time until the next check, if no change is reported before.
    private func look(_ seen: inout [FileIdentity?], with watch: (any FolderWatch)?) async -> Duration? {
        // Must precede the check of the files, so that no later change is missed.
        let isNotified = follows(with: watch)
        var isWell = true
        let current = watched()
        if current != seen || holdEnds.map({ device.now() >= $0 }) == true {
            seen = current
            isWell = await attempt { [self] () throws(SyncError) in try await follow() }
            isWell = await attempt { [self] () throws(SyncError) in try followParameters() } && isWell
        }
        isWell = await attempt { [self] () throws(SyncError) in try await endTrialIfDue() } && isWell
        isWell = await attempt { [self] () throws(SyncError) in try await removePreviousIfDue() } && isWell
        // The failed attempt may have changed the folders itself, so wait before the next check.
        if !isWell { try? await waiting.sleep(settings.watchInterval) }
        let held = holdEnds.map { $0.since(device.now()) }
        let clock = isNotified ? nil : settings.unwatchedInterval
        let pauses = [trial?.nextQuestion, hadPrevious ? server.previousLasts : nil, held, clock].compactMap(\.self)
        return pauses.min().map { max($0, settings.watchInterval) }
    }

    private func watching(_ changed: @escaping @Sendable () -> Void) -> (any FolderWatch)? {
        guard let watch = waiting.watch else { return nil }
        do throws(FileError) { return try watch(changed) } catch {
            reportUnwatched(error)
            return nil
        }
    }

    /// Whether the followed folders are watched now.
    ///
    /// One of them may be new.
    private func follows(with watch: (any FolderWatch)?) -> Bool {
        guard let watch else { return false }
        let channel = device.store.stateFile(device.configuration.channel).removingLastComponent()
        let folders = [device.store.root, channel.removingLastComponent(), channel]
        do throws(FileError) { try watch.watch(folders) } catch {
            reportUnwatched(error)
            return false
        }
        return true
    }

    private func reportUnwatched(_ error: FileError) {
        guard unwatched == nil else { return }
        unwatched = error
        report(.trouble(.file(error)))
    }

    private func watched() -> [FileIdentity?] {
        let (store, channel) = (device.store, device.configuration.channel)
        return [store.configurationFile, store.stateFile(channel), store.parametersFile(channel)].map {
            (try? store.files.identity(of: $0)) ?? nil
        }
    }

    /// Deletes the previous selection's files, once its pages no longer need them.
    private func removePreviousIfDue() async throws(SyncError) {
        let hasPrevious = server.servesPrevious()
        defer { hadPrevious = hasPrevious }
        if hadPrevious, !hasPrevious { try await device.removeUnused() }
    }
}
