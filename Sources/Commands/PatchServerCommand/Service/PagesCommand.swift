import APIProxy
import ArgumentParser
import CommandKit
import HTTPCore
import HTTPFiles
import PageServing
import PatchFetch
import PatchFormat
import PatchServer
import PatchStore
import ServiceLifecycle
import SystemPackage

/// `patchsrv pages`: a proxy for a site that sends only the changes of pages.
struct PagesCommand: ServingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "Proxy a site, and send only the changed parts of its pages.",
        discussion: """
            Forwards every request to --upstream and streams the answers. For pages
            (text/html, status 200, up to 5 MB), clients with an earlier version receive
            less:
              - Clients of VasSonic, and devices with Patchline, get 304 for an unchanged page, and only the blocks between \
            <!--sonicdiff-NAME--> and <!--sonicdiff-NAME-end--> if its template is unchanged.
              - Browsers with the content coding dcz (RFC 9842; over HTTPS, or on their own machine) get a page compressed \
            against an earlier one. Unless a route differs, this applies to requests without cookies and credentials.

            All other answers are unchanged. --routes is a JSON file
            (\(PageRoutes.format)) that sets which of these apply to which paths; without
            it, all apply to all paths. It is read once.

            Options can also be set in the environment (PATCHSRV_UPSTREAM) or in a file
            (--config). Use another file than for patchsrv serve, because both have a
            port.

            Nothing is stored on disk. A line is printed once it listens. The first SIGINT
            or SIGTERM waits for answers in flight, the second ends it at once. SIGHUP
            reads the certificate again and opens a new access log.

            EXAMPLES
              patchsrv pages --upstream http://127.0.0.1:3000
              patchsrv pages --upstream http://127.0.0.1:3000 --routes pages.json --host 0.0.0.0 --port 443 \\
                --tls-certificate /etc/ssl/shop.pem --tls-key /etc/ssl/shop.key --access-log /var/log/pages.log
            """
                + exitCodes(
                    [
                        .done: "stopped normally",
                        .refused: "the certificate cannot be used",
                        .malformed: "a file that was read is malformed; file and field are named",
                        .network: "cannot listen on the address",
                        .busy: "the port is in use",
                        .interrupted: "ended at once by a second SIGINT, or not stopped in time after the first",
                        .terminated: "ended at once by a second SIGTERM, or not stopped in time after the first",
                    ],
                    usual: .disk
                )
    )

    /// The command's own options that a settings file may contain.
    static let settings: [Setting] = [
        Setting("upstream", rule: Upstream.rule) { Upstream($0) != nil },
        Setting("upstream-ca"),
        Setting("upstream-timeout", rule: ServeSettings.timeRule) { DurationArgument(argument: $0) != nil },
        Setting("routes"),
        Setting("memory", rule: ByteCountArgument.rule) { ByteCountArgument(argument: $0) != nil },
        Setting("metrics-host"),
        ServeSettings.port("metrics-port"),
    ]

    @Option(help: ArgumentHelp("URL of the site's server: http:// or https://, with at most a path.", valueName: "url"))
    var upstream: String

    @Option(help: ArgumentHelp("JSON file with rules for paths.", valueName: "file"))
    var routes: String?

    @Option(
        help: ArgumentHelp("Authorities to trust for --upstream, in place of the system's (PEM).", valueName: "file")
    )
    var upstreamCa: String?

    @Option(
        help: ArgumentHelp(
            "Time limit for a site's server without progress: 30s, 2m (default: 60s).",
            valueName: "time"
        )
    )
    var upstreamTimeout: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Memory for earlier pages to compress against (default: 64MB).",
            valueName: "bytes"
        )
    )
    var memory: ByteCountArgument?

    @Option(help: ArgumentHelp("Address for clients.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("Port for clients; 0 takes any free one.", valueName: "port"))
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "File for one line per request, with its time; - is standard output.",
            valueName: "file"
        )
    )
    var accessLog: String?

    @Option(help: ArgumentHelp("Format of log lines: text or json.", valueName: "format"))
    var logFormat = LogFormat.text

    @Option(
        help: ArgumentHelp(
            "Proxies in front: addresses or networks, separated by commas. Their X-Forwarded-… fields are passed on.",
            valueName: "addresses"
        )
    )
    var trustedProxy: ProxyAddresses?

    @Option(help: ArgumentHelp("Address of --metrics-port.", valueName: "address"))
    var metricsHost = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "Port of /metrics and /healthz; 0 takes any free one (default: not served).",
            valueName: "port"
        )
    )
    var metricsPort: Int?

    @OptionGroup(title: "TLS") var tls: TLSOptions
    @OptionGroup var settings: SettingsFileOption

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
        guard (0...65_535).contains(metricsPort ?? 0) else {
            throw ValidationError("--metrics-port must be from 0 to 65535")
        }
        guard Upstream(upstream) != nil else { throw ValidationError("--upstream \(Upstream.rule)") }
    }

    func run() async throws {
        try await reporting { try await serve() }
    }

    private func serve() async throws {
        let log = ServerLog(logFormat, accessLog: accessLog)
        let (nudges, nudge) = AsyncStream.makeStream(of: Void.self)
        let renewal = try tls.renewal(nudges: nudges, log: log)
        var configuration = FileServerConfiguration(host: host, port: port)
        configuration.tls = renewal?.identity
        let proxies = trustedProxy?.proxies ?? .none
        configuration.sharing = .byAddress(trustedProxies: proxies)
        let scheme = renewal == nil ? "http" : "https"
        let pages = try pageService()
        var settings = try proxySettings(pages)
        settings.placement = .inFrontOfSite(scheme: scheme, proxies)
        // A client's connection has one request in progress, so the proxy's limits by address protect the site too.
        settings.requests = configuration.maxConnections
        let report: @Sendable (String) -> Void = { log.say(.error, printable($0)) }
        try await APIProxy.with(settings, report: report) { [configuration] proxy in
            let server = FileServer(
                configuration: configuration,
                source: proxy,
                accessLog: log.accessLog,
                errorLog: { log.say(.error, $0) },
                onListening: { log.reportListening("listening on", "\(scheme)://\($0.authority)") }
            )
            let hangups = Hangups {
                log.reopen()
                nudge.yield()
            }
            let numbers = metricsPort.map { numbersServer(of: pages, at: $0, log) }
            let services: [(any Service)?] = [ReportedServer(server), numbers, renewal, hangups]
            try await serving(services.compactMap(\.self), stoppingWithin: configuration.drainTimeout, log)
        }
    }

    private func numbersServer(of pages: PageService, at port: Int, _ log: ServerLog) -> ReportedServer {
        ReportedServer(
            FileServer(
                configuration: FileServerConfiguration(host: metricsHost, port: port),
                source: PageNumbers(
                    pages: pages,
                    process: ProcessFacts(start: ProcessEnvironment.now()),
                    names: ListenerNames(boundTo: metricsHost, hasTLS: false)
                ),
                accessLog: nil,
                errorLog: { log.say(.error, $0) },
                onListening: { log.reportListening("numbers at", "http://\($0.authority)/metrics") }
            ),
            prefix: "metrics-"
        )
    }

    private func pageService() throws -> PageService {
        let routes = try routes.map { file in
            let bytes = try DiskFiles().read(FilePath(argument: file).followingLinks, limit: PageRoutes.limit)
            return try PageRoutes(bytes, named: file)
        }
        return PageService(routes ?? .all, memory: memory?.bytes ?? PageService.memory)
    }

    private func proxySettings(_ pages: PageService) throws -> APIProxy.Settings {
        guard let upstream = Upstream(upstream) else { throw ValidationError("--upstream \(Upstream.rule)") }
        let rule = ProxyRule(try ProxyPattern("/.*"), to: [upstream])
        var settings = APIProxy.Settings(rules: ProxyRules([rule]), trust: try trust())
        if let upstreamTimeout { settings.timeout = upstreamTimeout.duration }
        settings.filter = pages
        return settings
    }

    private func trust() throws -> TLSTrust {
        let pem = try upstreamCa.map {
            try DiskFiles().read(FilePath(argument: $0).followingLinks, limit: Limits.certificates)
        }
        do throws(TLSFault) { return try TLSTrust(authorities: pem) } catch {
            throw Failure(
                "no certificate of an authority in PEM",
                hint: "--upstream-ca must be PEM: -----BEGIN CERTIFICATE-----",
                code: .malformed
            )
        }
    }
}

/// A server whose errors are reported as failures of this program.
private struct ReportedServer: Service {
    private let server: FileServer
    private let prefix: String

    /// - Parameter prefix: The prefix of the options for its host and port: `metrics-`.
    init(_ server: FileServer, prefix: String = "") {
        (self.server, self.prefix) = (server, prefix)
    }

    func run() async throws {
        do throws(FileServerError) { try await server.run() } catch {
            throw Failure(error, prefix: prefix, holder: PortHolder.find)
        }
    }
}
