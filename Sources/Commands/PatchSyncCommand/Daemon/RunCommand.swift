import ArgumentParser
import CommandKit
import DeviceOutput
import Glibc
import Linux
import NIOConcurrencyHelpers
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import SystemPackage
import UnixSignals

struct RunCommand: LastingCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run all stores of this device in one process: sync, serve, confirm or roll back.",
        discussion: """
            The settings file names the stores and the settings of each: those of
            `patchsync serve` and `patchsync set`, under the option's name. It is read
            again when it changes and at SIGHUP. A store restarts only for a setting that
            needs it, such as its port. If the file cannot be read, the previous settings
            apply and the error is printed.

            Each store syncs at its interval, plus or minus 10 %. After a failure it
            retries sooner, then ever less often; it also syncs as soon as a network
            returns. A staged version starts by its rules, else when the page reloads, at
            the next launch, or while no page can be disturbed.

            Under systemd it reports readiness, status and liveness (Type=notify-reload,
            WatchdogSec=), and accepts a socket that systemd opened.

            EXAMPLES
              patchsync run
              patchsync run --config ./patchsync.yaml --json

              # /etc/patchline/patchsync.yaml
              stores:
                shop:
                  store: /var/lib/patchline/shop
                  server: https://updates.example.org
                  root: /etc/patchline/shop.root.json
                  sync-every: 15m
            """
                + exitCodes(
                    [
                        .done: "stopped normally (SIGINT, SIGTERM)",
                        .malformed: "the settings file is not valid",
                        .busy: "another process serves one of the stores",
                        .interrupted: "still busy 15 seconds after SIGINT",
                        .terminated: "still busy 15 seconds after SIGTERM",
                    ],
                    usual: .disk
                )
    )

    @Option(name: .long, help: ArgumentHelp("The settings file.", valueName: "file"))
    var config = DaemonSettings.standardFile.string

    @Flag(name: .long, help: "Print events as JSON, one object a line.")
    var json = false

    func run() async throws {
        try await runCommand(json: json, work)
    }

    private func work() async throws(Failure) {
        // Signals are trapped before anything starts, so that a stop at any time is clean.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let terminal = InputTerminal()
        let deadline = StopDeadline.ofServing
        defer { deadline.lift() }
        let file = SettingsOnDisk(FilePath(asNamed: config), named: config)
        let settings: DaemonSettings
        do throws(SettingsOnDisk.Fault) { settings = try file.read() } catch { throw Failure(error) }
        let printed = DaemonEvents(json: json)
        let manager = ServiceManager(environment: ProcessEnvironment.environment)
        let hosts = NIOLockedValueBox<[any StoreHost]>([])
        let log = EventLog()
        let (lulls, lull) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let daemon = Daemon(in: environment(printed, log) { lull.yield() }) { all in hosts.withLockedValue { $0 = all }
        }
        do throws(SyncError) { try await daemon.start(settings) } catch .lock(.held(let path, let process)) {
            throw .servedAlready(
                store: path.removingLastComponent(),
                by: process,
                settings.stores.first { path.starts(with: $0.store) }?.name
            )
        } catch { throw Failure(error) }
        let control = ControlPlace(settings, hosts: { hosts.withLockedValue(\.self) }, log: log)
        let life = DaemonSupervisor(daemon: daemon, file: file, manager: manager, events: printed)
        await withTaskGroup(of: Void.self) { group in
            let (settling, settled) = AsyncStream.makeStream(of: Never.self)
            group.addTask { await control.serve(telling: printed) { settled.finish() } }
            for await _ in settling {}
            manager?.notify(.ready, .status(DaemonSupervisor.status(settings.stores)))
            group.addTask { await life.watchFile(from: settings) }
            group.addTask { await life.reload() }
            group.addTask { await life.showSigns() }
            group.addTask { await IdleMemory.releaseMemory(after: lulls) }
            for await signal in signals {
                guard signal == .sighup, !terminal.isClosed else { break }
                life.requestReload()
            }
            log.close()
            group.cancelAll()
        }
        manager?.notify(.stopping)
        await daemon.stop()
    }

    static func words(of owner: String) -> String {
        "it belongs to \(owner), and this process keeps stores of root; restart it, or run one for \(owner)"
    }

    private func environment(
        _ printed: DaemonEvents,
        _ log: EventLog,
        _ onIdle: @escaping @Sendable () -> Void
    ) -> StoreRunner.Environment {
        let opening: @Sendable (FilePath) throws(SyncError) -> DeviceStore = { path throws(SyncError) in
            // Root acts as the owner of the stores that existed at the start. This store was added later.
            if let owner = ActingOwner.stranger(of: path) { throw .notKept(Self.words(of: owner)) }
            return StoreOptions.deviceStore(at: path)
        }
        var environment = StoreRunner.Environment(open: opening, now: ProcessEnvironment.now) { store, event in
            log.take(event, from: store.name, keptIn: StoreLog(store.store))
            printed.take(event, of: store)
        }
        environment.machine = StoreOptions.machine
        environment.onIdle = onIdle
        environment.atCommitPoint = CommitPoint.pullingThePlug
        return environment
    }
}

extension Failure {
    static func servedAlready(store: FilePath, by process: Int?, _ name: String?) -> Failure {
        Failure(
            "\(name.map { "\($0): " } ?? "")another process serves \(store) already"
                + (process.map { ": process \($0)" } ?? ""),
            hint: "only one process may serve a store: stop `patchsync serve` or the other `patchsync run` first.",
            code: .busy
        )
    }
}
