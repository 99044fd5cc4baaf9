import ArgumentParser
import CommandKit
import HTTPCore
import HTTPFiles
import NIOCore
import PatchFormat
import PatchServer
import PatchStore
import ReleaseAPI
import ReleaseService
import ServiceLifecycle
import SystemPackage

/// `patchsrv serve`: serves the published tree.
struct ServeCommand: ServingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the published tree over HTTP or HTTPS, and sign it again in time.",
        discussion: """
            Devices use --host and --port: tree, packs and answers, nothing else.
            Operators and pipelines use --operators-host and --operators-port, by default
            on this machine only: /api/v1, /healthz, /readyz and /metrics. Both use the
            same certificate.

            Needs no restart after `patchsrv publish`, `patchsrv dial` or
            `patchsrv trust`. Prints a line for each listener when it is ready, the
            devices' last. The first SIGINT or SIGTERM gives answers and uploads in
            flight --stop-within to finish. Two seconds later, or at a second signal, all
            end. An unfinished upload resumes at its next byte with the next serve. GET
            /healthz answers 200 while the process runs, GET /readyz while the published
            files verify and stay valid and the disk has room, else 503 with the necessary
            action.

            Every six hours it signs snapshot, timestamp and dial again. If the online key
            is encrypted and no passphrase is set, it asks at the terminal and keeps the
            passphrase in memory, also for the API. Without it, a warning is printed,
            devices are served, and signing is left to `patchsrv refresh`; the API accepts
            uploads, but publishes nothing and changes no dial (503, keyLocked). Due steps
            of rollout schedules are taken too (`patchsrv rollout --ramp`).

            Renewed certificates are read within a minute, or at SIGHUP, which also opens
            a new access log for logrotate. A pair that does not match is reported, and
            the previous one stays in use. After each publish, by any process, smaller
            forms and packs are made in the background at low priority,
            unless --background-optimize is off.

            Every option can also be set by a variable (PATCHSRV_READY_WITHIN
            for --ready-within), or in the YAML file of --config or PATCHSRV_CONFIG
            (`ready-within: 7d`). The command line precedes the environment, and the
            environment the file. With --print-config, all settings are printed with their
            sources, as such a file.

            EXAMPLES
              patchsrv serve --data /srv/patchline
              patchsrv serve --data /srv/patchline --host 0.0.0.0 --port 443 --passphrase-file /etc/patchline/online.pass \\
                --tls-certificate /etc/ssl/patches.pem --tls-key /etc/ssl/patches.key --access-log /var/log/patchline.log
              patchsrv serve --config /etc/patchline/patchsrv.yaml --operators-port 9464 --log-format json
              patchsrv serve --config /etc/patchline/patchsrv.yaml --print-config
              patchsrv serve --data /srv/patchline --refresh-every off --ready-within 14d
            """
                + exitCodes(
                    [
                        .done: "stopped normally",
                        .refused: "the passphrase does not open the online key, or tokens would travel in the clear",
                        .malformed: "the configuration file is malformed; file, line and key are named",
                        .network: "cannot listen on the address",
                        .busy: "a port is in use, or the folder is being restored",
                        .interrupted: "ended at once by a second SIGINT, or not stopped in time after the first",
                        .terminated: "ended at once by a second SIGTERM, or not stopped in time after the first",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("Address for devices.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp("Port for devices; 0 takes any free one, also for operators.", valueName: "port")
    )
    var port = 8080

    @OptionGroup(title: "Operators") var operators: OperatorOptions

    @Option(
        help: ArgumentHelp(
            "File for one line per request, with its time; - is standard output.",
            valueName: "file"
        )
    )
    var accessLog: String?

    @Option(help: ArgumentHelp("Format of log lines: text or json.", valueName: "format"))
    var logFormat = LogFormat.text

    @OptionGroup(title: "Readiness") var ready: ReadyOptions

    @Option(
        help: ArgumentHelp(
            "Time for answers and uploads in flight at shutdown: 10s, 2m (default: 10s).",
            valueName: "time"
        )
    )
    var stopWithin: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Maximum connections, at most half of the open-file limit. A further one replaces the one that waited longest "
                + "(default: 1024).",
            valueName: "number"
        )
    )
    var connections: Int?

    @Option(
        help: ArgumentHelp(
            "Minimum average rate of uploads and of reading answers, in bytes a second (default: 2kB).",
            valueName: "bytes"
        )
    )
    var leastRate: ByteCountArgument?

    @Option(
        help: ArgumentHelp(
            "Enable the release service: operators under /api/v1, places and answers for devices.",
            valueName: "on|off"
        )
    )
    var api = OnOff.on

    @Option(
        help: ArgumentHelp(
            "Proxies in front: addresses or networks, separated by commas. Their X-Forwarded-For names the client, for limits "
                + "and the access log.",
            valueName: "addresses"
        )
    )
    var trustedProxy: ProxyAddresses?

    @OptionGroup(title: "Packs") var packs: PackOptions
    @OptionGroup(title: "Packs") var packDemand: PackDemandOptions
    @OptionGroup(title: "Packs") var optimize: OptimizeOptions
    @OptionGroup(title: "TLS") var tls: TLSOptions
    @OptionGroup(title: "Signing") var refresh: RefreshOptions

    @Flag(help: "Print every setting with its source, and exit.")
    var printConfig = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
        let operatorsPort = operators.port(besideDevices: port)
        try OperatorOptions.check((operators.operatorsHost, operatorsPort), beside: (host, port))
        if let connections, !ServeSettings.connections.contains(connections) {
            throw ValidationError("--connections \(ServeSettings.connectionsRule)")
        }
        if let leastRate, !ServeSettings.leastRate.contains(leastRate.bytes) {
            throw ValidationError("--least-rate \(ServeSettings.leastRateRule)")
        }
    }

    func run() async throws {
        try await reporting { try await serve { _ in } }
    }

    private func releaseService(_ keys: RefreshOptions.Keys, _ log: ServerLog) async throws -> (
        operations: ReleaseOperations, operators: OperatorRoutes.Service, devices: DeviceAnswers
    )? {
        guard api == .on else { return nil }
        let operations = packs.adjust(try folder.folder.operations(openKey: keys.open))
        let uploads = Uploads(operations)
        // Devices are served even if these fail.
        do { try await recover(operations, log) } catch { Self.say(error, .unread, log) }
        do { try await uploads.removeStale() } catch { Self.say(error, .uploads, log) }
        let proxies = trustedProxy?.proxies ?? .none
        return (
            operations, OperatorRoutes.Service(operations, uploads: uploads, trustedProxies: proxies),
            DeviceAnswers(operations, trustedProxies: proxies, report: { log.say(.error, printable($0)) })
        )
    }

    private func recover(_ operations: ReleaseOperations, _ log: ServerLog) async throws {
        let recovery = try await SettleIntents(operations).run()
        for entry in recovery.published { log.say(.info, EarlierRun.settled(entry), app: entry.app) }
        for (key, error) in recovery.left { Self.say(error, .unfinished(key), log) }
    }

    private static func say(_ error: any Error, _ what: EarlierRun, _ log: ServerLog) {
        log.say(.error, printable(what.stays(Failure(of: error)?.message ?? "\(error)")))
    }

    /// Serves until it is stopped.
    ///
    /// - Parameter onListening: Receives the URL for devices once it is available.
    func serve(onListening: @escaping @Sendable (String) -> Void) async throws {
        let folder = folder.folder
        guard try DiskFiles().status(of: folder.tree) != nil else { throw Failure.noApps(in: folder) }
        let log = ServerLog(logFormat, accessLog: accessLog)
        let keys = try refresh.keys(in: folder)
        for key in keys.locked {
            if let line = refresh.warning(of: key, hasAPI: api == .on) { log.say(.warning, printable(line)) }
        }
        let readiness = ready.check(folder, keys)
        let service = try await releaseService(keys, log)
        let numbers = ServerMetrics(
            readiness: readiness,
            process: ProcessFacts(start: ProcessEnvironment.now()),
            now: ProcessEnvironment.now,
            reports: { [reported = service.map { ReportedListings($0.operations) }] in await reported?.now() ?? [] },
            pending: { (try? folder.pendingOptimizations()) ?? [] }
        )
        let (nudges, nudge) = AsyncStream.makeStream(of: Void.self)
        let renewal = try tls.renewal(nudges: nudges, log: log)
        var configuration = FileServerConfiguration(host: host, port: port)
        configuration.tls = renewal?.identity
        configuration.sharing = .byAddress(trustedProxies: trustedProxy?.proxies ?? .none)
        if let connections { configuration.maxConnections = connections }
        if let leastRate { configuration.leastRate = leastRate.bytes }
        if let stopWithin { configuration.drainTimeout = stopWithin.duration }
        let operatorsConfiguration = try operators.configuration(beside: configuration)
        let demand = packDemand.service(service?.operations, log)
        let scheme = renewal == nil ? "http" : "https"
        let listeners = Listeners(
            operators: { onListening in
                FileServer(
                    configuration: operatorsConfiguration,
                    source: OperatorRoutes(
                        service?.operators,
                        pages: OperatorPages(readiness: readiness, metrics: numbers),
                        names: ListenerNames(
                            boundTo: operatorsConfiguration.host,
                            hasTLS: operatorsConfiguration.tls != nil
                        ),
                        report: { log.say(.error, printable($0)) }
                    ),
                    accessLog: log.accessLog,
                    meter: numbers.traffic,
                    errorLog: { log.say(.error, $0) },
                    onListening: {
                        log.reportListening("operators on", "\(scheme)://\($0.authority)")
                        onListening()
                    }
                )
            },
            devices: FileServer(
                configuration: configuration,
                source: DeviceFront(
                    PublishedTree(folder.tree, gateways: GatewayFiles(folder)) { demand?.ask($0, $1) },
                    answers: service?.devices
                ),
                accessLog: log.accessLog,
                meter: numbers.traffic,
                errorLog: { log.say(.error, $0) },
                onListening: {
                    let url = "\(scheme)://\($0.authority)"
                    log.reportListening("listening on", url)
                    onListening(url)
                }
            )
        )
        let hangups = Hangups {
            log.reopen()
            nudge.yield()
        }
        let timer = refresh.timer(folder, keys, counting: numbers.refreshes, log: log)
        let rollouts = try RolloutSteps.timer(service?.operations, folder, refresh, keys, log: log)
        // Services are stopped in reverse order.
        let optimizer = optimize.service(service?.operations, log)
        let memory = IdleMemoryTimer(clock: .continuous)
        let services: [(any Service)?] = [listeners, demand, optimizer, timer, rollouts, renewal, hangups, memory]
        let share = try Self.shareFolder(folder, log)
        try await serving(services.compactMap(\.self), stoppingWithin: configuration.drainTimeout, log)
        share?.release()
    }

    /// Marks the folder as served, for `patchsrv restore --in-place`.
    ///
    /// Nil if this user may not write there or the disk is full, because devices are served anyway.
    private static func shareFolder(_ folder: ServerFolder, _ log: ServerLog) throws -> StoreLock? {
        do throws(StoreLockError) { return try StoreLock(sharing: folder.serving) } catch {
            switch error {
            case .held: throw restores(folder, error)
            case .file(let error):
                log.say(.warning, printable(unmarked(error)))
                return nil
            }
        }
    }

    static func restores(_ folder: ServerFolder, _ error: StoreLockError) -> Failure {
        Failure(
            "\(error), which restores \(folder.root)",
            hint: "wait until it has finished, then try again",
            code: .busy
        )
    }

    static func unmarked(_ error: FileError) -> String {
        "patchsrv restore --in-place will not notice that this server runs: \(error)"
    }
}

/// The value of `--trusted-proxy`.
struct ProxyAddresses: ExpressibleByArgument {
    static let rule = TrustedProxies.rule

    let proxies: TrustedProxies

    init?(argument: String) {
        guard let proxies = TrustedProxies(argument) else { return nil }
        self.proxies = proxies
    }
}
