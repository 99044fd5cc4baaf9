import CommandSupport
import FileFacts
import PatchDaemon
import PatchStore
import Patchline
import SystemPackage
import Terminal

/// What goes on beside the stores while `run` runs: its settings may change, and its service manager wants to hear of it.
struct DaemonLife: Sendable {
    let daemon: Daemon
    let file: SettingsOnDisk
    let manager: ServiceManager?
    let events: DaemonEvents
    let status: @Sendable ([StoreSettings]) -> String

    /// Reads the settings again; they stay as they are where that fails.
    ///
    /// - Parameter isAsked: whether somebody waits for it; else it is told only when something changed.
    func reload(isAsked: Bool) async {
        manager?.tell(.reloading(microseconds: ServiceManager.microseconds))
        do throws(SettingsOnDisk.Fault) {
            let settings = try file.read()
            let change = await daemon.apply(settings)
            if isAsked || !change.isEmpty { events.reloaded(change) }
            manager?.tell(.ready, .status(status(settings.stores)))
        } catch {
            let failure = Failure(error)
            events.kept(failure)
            manager?.tell(.ready, .status(Self.status(keptBecause: failure)))
        }
    }

    static func status(keptBecause failure: Failure) -> String { "keeps its settings: \(failure.message)" }

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
        if (try? file.read()) != settings { await reload(isAsked: false) }
        for await _ in changes {
            let current = file.identity
            // An editor takes a file away before it puts the new one there.
            guard let current, current != seen else { continue }
            seen = current
            try? watch.watch(file.folders)
            await reload(isAsked: false)
        }
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
