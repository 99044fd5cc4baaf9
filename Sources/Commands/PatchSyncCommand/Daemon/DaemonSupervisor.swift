import PatchFormat
import CommandKit
import Linux
import PatchDaemon
import PatchStore
import SystemPackage

/// The work of `run` beside the stores: it applies changed settings, and notifies the service manager.
struct DaemonSupervisor: Sendable {
    private let daemon: Daemon
    private let file: SettingsOnDisk
    private let manager: ServiceManager?
    private let events: DaemonEvents
    /// The requests to read the settings again, one after the other.
    ///
    /// True if a person asked, false if the file changed.
    private let wishes: AsyncStream<Bool>
    private let wish: AsyncStream<Bool>.Continuation

    init(daemon: Daemon, file: SettingsOnDisk, manager: ServiceManager?, events: DaemonEvents) {
        (self.daemon, self.file, self.manager, self.events) = (daemon, file, manager, events)
        (wishes, wish) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(2))
    }

    static func status(_ stores: [StoreSettings]) -> String {
        "keeps \(stores.map(\.name).joined(separator: ", "))"
    }

    static func status(keptBecause failure: Failure) -> String { "keeps its settings: \(failure.message)" }

    /// Requests to read the settings again.
    ///
    /// The result is reported even if nothing changed.
    func requestReload() { wish.yield(true) }

    /// Applies changed settings until the task is cancelled.
    func reload() async {
        for await isRequested in wishes { await reload(isRequested: isRequested) }
    }

    /// Reads the settings again.
    ///
    /// If that fails, the present settings stay.
    private func reload(isRequested: Bool) async {
        manager?.notify(.reloading(microseconds: ServiceManager.microseconds))
        do throws(SettingsOnDisk.Fault) {
            let settings = try file.read()
            let change = await daemon.apply(settings)
            if isRequested || !change.isEmpty { events.reloaded(change) }
            manager?.notify(.ready, .status(Self.status(settings.stores)))
        } catch {
            let failure = Failure(error)
            events.kept(failure)
            manager?.notify(.ready, .status(Self.status(keptBecause: failure)))
        }
    }

    /// Watches the file's folder for changes until the task is cancelled.
    func watchFile(from settings: DaemonSettings) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch: FolderChanges
        do throws(FileError) {
            watch = try FolderChanges(of: file.path) { change.yield() }
            try watch.watch(file.folders)
        } catch { return events.unwatched(error) }
        defer { watch.end() }
        var seen = file.identity
        // The file may have changed between the first reading and now.
        if (try? file.read()) != settings { wish.yield(false) }
        for await _ in changes {
            // A program that overwrites a file in place truncates it first.
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            if file.identity == nil {
                // Some editors remove a file before they create the new one.
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                guard await waitForFile(telling: { wish.yield(false) }) else { return }
            }
            let current = file.identity
            guard let current, current != seen else { continue }
            seen = current
            try? watch.watch(file.folders)
            wish.yield(false)
        }
    }

    /// Waits until the settings file exists.
    ///
    /// Its folder may be missing too. A watch would then not report the file.
    ///
    /// - Returns: False if the task was cancelled.
    private func waitForFile(telling gone: () -> Void) async -> Bool {
        guard file.identity == nil else { return true }
        gone()
        while file.identity == nil {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return false }
        }
        // Also if the same file is restored, because its absence was reported.
        wish.yield(true)
        return true
    }

    /// Sends watchdog notifications until the task is cancelled, at half the required interval, and only while the daemon responds.
    func showSigns() async {
        guard let manager, let interval = manager.watchdog else { return }
        while (try? await Task.sleep(for: interval / 2)) != nil {
            await daemon.answers()
            await MainActor.run {}
            manager.notify(.alive)
        }
    }
}
