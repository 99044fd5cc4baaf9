import ArgumentParser
import CommandKit
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
        abstract: "Serves the published tree over HTTP or HTTPS, and signs it again in time.",
        discussion: """
            Devices ask --host and --port: the tree, packs and answers, and nothing else is there. Operators and pipelines ask
            --operators-host and --operators-port, on this machine alone unless you say otherwise: /api/v1, /healthz, /readyz
            and /metrics. One certificate is shown by both.

            Needs no restart after `patchsrv publish`, `patchsrv dial` or `patchsrv trust`. Prints a line for each of the two once
            it listens, the devices' last. The first SIGINT or SIGTERM lets answers and uploads in flight finish for as long as
            --stop-within says, the second ends it at once, and so does the end of that time, two seconds later, whatever is at
            work then. An upload that did not finish goes on at its next byte with the next serve. GET /healthz answers 200 while
            the process lives; GET /readyz answers 200 while what it serves verifies and holds for a while and the disk has
            room, else 503 with what must be done.

            It takes the steps of rollout schedules when they are due (`patchsrv rollout --ramp`).

            Every six hours it signs snapshot, timestamp and dial again, for which it opens the online key for a moment. Where
            the key is encrypted and no passphrase is named, it asks at the terminal and keeps the answer in memory, for the
            API too. Without an answer it serves devices, says so once, and leaves signing to `patchsrv refresh`; the API then
            takes uploads in and publishes nothing, and turns nothing (503, keyLocked).

            Certificates are read again within a minute of their renewal; a pair that does not fit is reported, and the one
            before goes on. SIGHUP reads them at once and goes on in a new access log, for logrotate.

            After each publish, by whichever process, it makes smaller forms and packs in the background, one release at a time
            and at a low priority (--background-optimize off leaves that to `patchsrv optimize`).

            Every option can also be set by a variable, PATCHSRV_READY_WITHIN for --ready-within, or in a YAML file named by
            --config or PATCHSRV_CONFIG, `ready-within: 7d`. The command line wins over the environment, the environment over
            the file. --print-config shows what holds and where it comes from, as such a file.

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
                        .done: "stopped in good order",
                        .refused: "the passphrase does not open the online key, or tokens would travel in the clear",
                        .malformed: "the configuration file is malformed; file, line and key are named",
                        .network: "the address cannot be listened on",
                        .busy: "a port is in use, or the folder is being restored",
                        .interrupted: "ended at once by a second SIGINT, or not stopped in time after the first",
                        .terminated: "ended at once by a second SIGTERM, or not stopped in time after the first",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("The address where devices ask.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp("The port where devices ask; 0 takes any free one, for operators, too.", valueName: "port")
    )
    var port = 8080

    @OptionGroup var operators: OperatorOptions

    @Option(
        help: ArgumentHelp(
            "Where to add one line for each request, with its time; - is standard output.",
            valueName: "file"
        )
    )
    var accessLog: String?

    @Option(help: ArgumentHelp("How lines are written: text or json.", valueName: "format"))
    var logFormat = LogFormat.text

    @OptionGroup var ready: ReadyOptions

    @Option(
        help: ArgumentHelp(
            "How long answers and uploads in flight may go on once it is told to stop: 10s, 2m (default: 10s).",
            valueName: "time"
        )
    )
    var stopWithin: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Connections at a time, at most half of the files that it may open; for one more, the one that has waited "
                + "longest goes (default: 1024).",
            valueName: "number"
        )
    )
    var connections: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes a second that clients must send of uploads and take of answers, on the average (default: 2kB).",
            valueName: "bytes"
        )
    )
    var leastRate: ByteCountArgument?

    @Option(
        help: ArgumentHelp(
            "Whether the release service answers: operators under /api/v1, devices that ask for places and answers.",
            valueName: "on|off"
        )
    )
    var api = OnOff.on

    @Option(
        help: ArgumentHelp(
            "Addresses or networks of proxies in front, with commas: from them X-Forwarded-For says who asks, for limits and "
                + "the access log.",
            valueName: "addresses"
        )
    )
    var trustedProxy: ProxyAddresses?

    @OptionGroup var packs: PackOptions
    @OptionGroup var packDemand: PackDemandOptions
    @OptionGroup var optimize: OptimizeOptions
    @OptionGroup var tls: TLSOptions
    @OptionGroup var refresh: RefreshOptions

    @Flag(help: "Print every setting with where it comes from, and end.")
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
                        log.tellListening("operators on", "\(scheme)://\($0.authority)")
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
                    log.tellListening("listening on", url)
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
