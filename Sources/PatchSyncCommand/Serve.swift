import APIProxy
import ArgumentParser
import CommandSupport
import AssetServer
import HTTPFiles
import Logging
import NIOConcurrencyHelpers
import NIOCore
import PatchFormat
import PatchSync
import Patchline
import ServiceLifecycle
import SystemPackage
import Terminal
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Launch: serve the active bundle on loopback, and roll a new one back unless it is confirmed in time.",
        discussion: """
            The port is the app's own and stays the same, for cookies and storage belong to it. A new version has the startup
            timeout to say that it works: the page by window.patchline.confirm() of /__patchline/launch.js, or a program by
            `patchsync confirm --launch TOKEN`. Time in which this process is stopped does not count.

            What a sync staged starts when the page calls window.patchline.switchToPending(), by `patchsync switch`, or at
            the next launch; a mandatory version starts at once, one that runs at the next launch waits for that.

            \(ProxyOptions.discussion)

            EXAMPLES
              patchsync serve --store /var/lib/app
              patchsync serve --store /var/lib/app --proxy '/api/.*=https://api.example.com'
              patchsync serve --store /var/lib/app --port 0 --startup-timeout 5000 --json

            EXIT CODES: 0 stopped in good order (SIGINT, SIGTERM) · 6 disk · 7 the port is taken
            """
    )

    @OptionGroup var options: StoreOptions

    @OptionGroup var build: AppBuildOption

    @Option(name: .long, help: "Another port than the app's own; 0 takes any free one.")
    var port: Int?

    @Flag(
        name: .long,
        help: "When the port is taken, take the next free one. The origin changes: pages lose cookies and storage."
    )
    var nextFreePort = false

    @Option(name: .long, help: ArgumentHelp("How long a new version has to confirm.", valueName: "ms"))
    var startupTimeout = 20_000

    @Option(name: .long, help: ArgumentHelp("Which bundle to serve, where there are several.", valueName: "patch"))
    var bundle: String?

    @Option(name: .long, help: ArgumentHelp("The app's own folder, asked after the bundle.", valueName: "dir"))
    var www: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A folder served under /local-filesystem/; none without it.", valueName: "dir")
    )
    var localFiles: String?

    @OptionGroup var proxies: ProxyOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be from 0 to 65535") }
        guard (1...3_600_000).contains(startupTimeout) else {
            throw ValidationError("--startup-timeout must be from 1 to 3600000 milliseconds")
        }
        if let bundle, PatchID(bundle) == nil { throw ValidationError("--bundle \(PatchID.rule)") }
    }

    func run() async throws {
        try await ending(json: options.json, work)
    }

    private func work() async throws(Failure) {
        var device = try await options.opened(appBuild: build.appBuild)
        device.atCommitPoint = CommitPoint.pullingThePlug
        let proxy = try proxies.settings()
        let own = device.configuration.port ?? StablePort.port(for: device.configuration.app)
        var port = port ?? own
        while true {
            do {
                return try await serve(device, port: port, records: self.port == nil, proxy)
            } catch FileServerError.portInUse where nextFreePort && (1..<65_535).contains(port) {
                Console.standardError.line(
                    "warning: port \(port) is taken; trying \(port + 1). The origin changes: pages lose cookies and storage."
                )
                port += 1
            } catch FileServerError.portInUse {
                throw Failure(
                    "port \(port) is taken by another program",
                    hint: """
                        Stop it, or choose another with --port.
                        --next-free-port takes the next one; the origin changes then, so pages lose their storage.
                        """,
                    exitCode: .busy
                )
            } catch let error as SyncError {
                throw Failure(error)
            } catch {
                throw Failure("\(error)")
            }
        }
    }

    private func serve(_ device: Device, port: Int, records: Bool, _ proxy: APIProxy.Settings?) async throws {
        guard let proxy else { return try await serve(device, port: port, records: records, delegate: nil) }
        let report: @Sendable (String) -> Void = { Console.standardError.line(printable($0)) }
        try await APIProxy.with(proxy, report: report) { proxy in
            try await serve(device, port: port, records: records, delegate: proxy)
        }
    }

    private func serve(
        _ device: Device,
        port: Int,
        records: Bool,
        delegate: (any RequestDelegate)?
    ) async throws {
        let events = LaunchEvents(options.json)
        let running = NIOLockedValueBox<RunningApp?>(nil)
        let source = AssetServer(
            www: www.map { FilePath(argument: $0) },
            localFiles: localFiles.map { FilePath(argument: $0) },
            switchToPending: {
                guard let app = running.withLockedValue(\.self) else { return .refused("the app is still starting") }
                do throws(SyncError) { try await app.switchToPending() } catch { return .refused(error.description) }
                return .switched
            }
        ) { text in
            guard let token = LaunchToken(text) else { return .otherLaunch }
            do throws(SyncError) {
                // Another process may have changed the channel.
                switch try await device.reopened().confirm(token) {
                case .confirmed: return .confirmed
                case .alreadyConfirmed: return .alreadyConfirmed
                case .otherLaunch, .nothingToConfirm: return .otherLaunch
                }
            } catch { return .failed }
        }
        if let delegate { source.delegate(to: delegate) }
        var settings = RunningApp.Settings()
        settings.startupTimeout = .milliseconds(startupTimeout)
        settings.bundle = bundle.flatMap { PatchID($0) }
        let app = RunningApp(device: device, server: source, settings: settings) { events.take($0) }
        running.withLockedValue { $0 = app }
        let (listening, whenListening) = AsyncStream.makeStream(of: Int.self)
        let server = FileServer(
            configuration: .init(host: "127.0.0.1", port: port),
            source: source,
            errorLog: { Console.standardError.line($0) },
            onListening: { address in
                whenListening.yield(address.port ?? port)
                whenListening.finish()
            }
        )
        let launch = Launch(app: app, device: device, listening: listening, recordsPort: records, events: events)
        let group = ServiceGroup(
            services: [server, launch],
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: Logger(label: "patchsync") { _ in SwiftLogNoOpLogHandler() }
        )
        try await group.run()
    }
}

/// Counts the launch once the port is ours, so that a taken port costs no trial.
private struct Launch: Service {
    let app: RunningApp
    let device: Device
    let listening: AsyncStream<Int>
    let recordsPort: Bool
    let events: LaunchEvents

    func run() async throws {
        var port: Int?
        for await bound in listening.cancelOnGracefulShutdown() { port = bound }
        guard let port else { return }
        if recordsPort, device.configuration.port == nil {
            do throws(SyncError) {
                try await device.store.changingConfiguration { configuration in configuration.port = port }
            } catch { events.trouble(error.description) }
        }
        try await app.launch()
        events.listening(on: port)
        await app.run()
    }
}
