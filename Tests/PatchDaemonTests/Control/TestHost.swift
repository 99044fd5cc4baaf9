import DeviceOutput
import DeviceTesting
import NIOConcurrencyHelpers
import PatchChoice
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import PatchTesting
import Patchline
import Subprocess
import SystemPackage
import CommandKit
import Testing

/// A store in a folder of its own, served on a real port, as the socket sees it.
struct TestHost: StoreHost {
    let name = "shop"
    let clock = ManualClock()
    let repository: SimulatedRepository
    let root: FilePath
    let simulated: SimulatedDevice
    let log: EventLog
    /// What became of the socket.
    let news = NIOLockedValueBox<[ControlServer.News]>([])
    private let server: LocalServer
    private let address = NIOLockedValueBox<LocalServer.Address?>(nil)

    private init() throws {
        repository = SimulatedRepository(clock: clock)
        root = FilePath("/tmp/control-tests-\(UInt64.random(in: 0...UInt64.max))")
        simulated = try SimulatedDevice(
            of: repository,
            clock: clock,
            on: DiskFiles(),
            at: root.appending("store"),
            isShared: true
        )
        let log = EventLog(start: "s", now: clock.now)
        let file = StoreLog(simulated.store.root)
        self.log = log
        var settings = LocalServer.Settings()
        settings.port = 0
        settings.updates.isAllowed = false
        settings.app.startupTimer = .launch
        settings.app.startupTimeout = .seconds(3_600)
        server = LocalServer(device: simulated.device, settings: settings) {
            log.take($0, from: "shop", keptIn: file)
        }
    }

    var socket: FilePath { root.appending("run").appending("control.sock") }

    /// Runs `body` with a store that serves, and a control server that answers; both end with it.
    static func with(_ body: (TestHost) async throws -> Void) async throws {
        let host = try TestHost()
        defer { try? DiskFiles().removeTree(host.root) }
        host.publish("1")
        try await host.simulated.sync()
        try await host.simulated.launchAndConfirm()
        host.publish("2")
        let address = try await host.server.start()
        host.address.withLockedValue { $0 = address }
        var settings = ControlServer.Settings()
        settings.deadlines.retries = 0
        // Whoever went away is noticed when something is written.
        settings.beat = .milliseconds(50)
        let control = ControlServer(at: .path(host.socket), settings, hosts: { [host] }, log: host.log)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await control.run { news in
                    host.news.withLockedValue { $0.append(news) }
                    isReady.finish()
                }
            }
            for await _ in ready {}
            let result = await Result { () async throws in try await body(host) }
            host.log.close()
            group.cancelAll()
            try await group.waitForAll()
            try result.get()
        }
        await host.server.stop()
    }

    func publish(_ version: String) {
        repository.publish([
            .bundle("web", version, ["index.html": "<p>\(version)</p>"]), .script("fix", "1", "one;"),
        ])
    }

    private var file: StoreLog { StoreLog(simulated.store.root) }

    func device() throws(SyncError) -> Device { try simulated.device.reopened() }

    func pages() -> LocalServer.Address? { address.withLockedValue(\.self) }

    func trouble() -> Failure? { nil }

    func nextContact() -> NextContact? { NextContact(seconds: 900, reason: .interval) }

    func sync(_ wish: SyncRequest) async throws(SyncError) -> SyncReport {
        var device = simulated
        device.retryNow = wish.retriesFailed
        if wish.isMetered == true { device.allowance = 0 }
        let file = file
        device.report = { [log] in log.take(.syncing($0), from: "shop", keptIn: file) }
        do throws(SyncError) {
            let report = try await device.sync()
            log.take(.synced(.success(report)), from: name, keptIn: file)
            return report
        } catch {
            log.take(.synced(.failure(error)), from: name, keptIn: file)
            throw error
        }
    }

    func switchToPending() async throws(SyncError) { try await server.startPending() }
    func background() async throws(SyncError) { try await server.background() }
    func foreground() async throws(SyncError) { try await server.foreground() }

    // MARK: Asking

    struct Answer {
        let status: Int
        let body: String

        var json: JSON? { try? JSON(parsing: Array(body.utf8)) }

        /// Whether this is what was said, whatever the order of its members.
        func hasBody(_ json: JSON?) -> Bool {
            json.map { String(decoding: $0.fileBytes, as: UTF8.self) + "\n" } == body
        }
    }

    /// By curl, as anybody would.
    func curl(_ path: String, _ options: String...) async throws -> Answer { try await curl(path, options) }

    func curl(_ path: String, _ options: [String]) async throws -> Answer {
        let outcome = try await run(
            "curl",
            ["-sS", "--unix-socket", socket.string, "http://patchline\(path)", "-w", "%{http_code}"] + options
        )
        try #require(outcome.code == 0, "\(path): \(outcome.output)")
        return Answer(status: Int(outcome.output.suffix(3)) ?? 0, body: String(outcome.output.dropLast(3)))
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// Runs a program of the system.
func run(_ program: String, _ arguments: [String]) async throws -> (code: Int32?, output: String) {
    let result = try await Subprocess.run(
        program.contains("/") ? .path(FilePath(program)) : .name(program),
        arguments: Arguments(arguments),
        output: .string(limit: 1_000_000),
        error: .combinedWithOutput
    )
    guard case .exited(let code) = result.terminationStatus else { return (nil, result.standardOutput) }
    return (code, result.standardOutput)
}
