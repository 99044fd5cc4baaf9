import PatchFormat
import CommandKit
import Linux
import PatchDaemon
import PatchStore
import SystemPackage

/// What goes on beside the stores while `run` runs: its settings may change, and its service manager wants to hear of it.
struct DaemonLife: Sendable {
    private let daemon: Daemon
    private let file: SettingsOnDisk
    private let manager: ServiceManager?
    private let events: DaemonEvents
    /// Whether somebody asked, or the file changed; one after the other.
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

    /// Somebody wants the settings read again, and hears of it also where nothing changed.
    func reloadIsAsked() { wish.yield(true) }

    /// Until its task is cancelled.
    func reload() async {
        for await isAsked in wishes { await reload(isAsked: isAsked) }
    }

    /// Reads the settings again; they stay as they are where that fails.
    private func reload(isAsked: Bool) async {
        manager?.tell(.reloading(microseconds: ServiceManager.microseconds))
        do throws(SettingsOnDisk.Fault) {
            let settings = try file.read()
            let change = await daemon.apply(settings)
            if isAsked || !change.isEmpty { events.reloaded(change) }
            manager?.tell(.ready, .status(Self.status(settings.stores)))
        } catch {
            let failure = Failure(error)
            events.kept(failure)
            manager?.tell(.ready, .status(Self.status(keptBecause: failure)))
        }
    }

    /// Until its task is cancelled: the system tells of changes in the file's folder.
    func watchFile(from settings: DaemonSettings) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch: FolderChanges
        do throws(FileError) {
            watch = try FolderChanges(of: file.path) { change.yield() }
            try watch.watch(file.folders)
        } catch { return events.unwatched(error) }
        defer { watch.end() }
        var seen = file.identity
        // What was written between the first reading and now.
        if (try? file.read()) != settings { wish.yield(false) }
        for await _ in changes {
            // A program that writes into the file itself empties it first.
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            if file.identity == nil {
                // An editor takes a file away before it puts the new one there.
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                guard await fileIsThere(telling: { wish.yield(false) }) else { return }
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
    /// Its folder may be gone too, so that no watch would report it.
    ///
    /// - Returns: false if the task was cancelled.
    private func fileIsThere(telling gone: () -> Void) async -> Bool {
        guard file.identity == nil else { return true }
        gone()
        while file.identity == nil {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return false }
        }
        // Also when the same file is back: its absence was reported.
        wish.yield(true)
        return true
    }

    /// Until its task is cancelled: twice as often as is wanted at least, and only while the daemon answers.
    func showSigns() async {
        guard let manager, let interval = manager.watchdog else { return }
        while (try? await Task.sleep(for: interval / 2)) != nil {
            await daemon.answers()
            await MainActor.run {}
            manager.tell(.alive)
        }
    }
}
