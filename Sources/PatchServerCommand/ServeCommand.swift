import CommandSupport
import ArgumentParser
import HTTPFiles
import Logging
import NIOCore
import PatchServer
import PatchStore
import ReleaseAPI
import ReleaseService
import ServiceLifecycle
import SystemPackage
import Terminal
import UnixSignals

/// `patchsrv serve`: serves the published tree.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves the published tree over HTTP or HTTPS, and signs it again in time.",
        discussion: """
            Needs no restart after `patchsrv publish` or `patchsrv trust`. Prints one line once it listens. SIGINT and SIGTERM
            let answers in flight finish first. GET /healthz answers 200 while the process lives; GET /readyz answers 200 while
            what it serves verifies and holds for a while, else 503 with what must be signed.

            Every six hours it signs snapshot, timestamp and dial again, for which it opens the online key for a moment. Where
            the key is encrypted and no passphrase is named, it says so once and leaves that to `patchsrv refresh`.

            EXAMPLES
              patchsrv serve --data /srv/patchline
              patchsrv serve --data /srv/patchline --host 0.0.0.0 --port 443 --passphrase-file /etc/patchline/online.pass \\
                --tls-certificate /etc/ssl/patches.pem --tls-key /etc/ssl/patches.key --access-log /var/log/patchline.log
              patchsrv serve --data /srv/patchline --refresh-every off --ready-within 14d
            """
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port to listen on; 0 takes any free one.", valueName: "port"))
    var port = 8080

    @Option(help: ArgumentHelp("Where to add one line for each request; - is standard output.", valueName: "file"))
    var accessLog: String?

    @Option(
        help: ArgumentHelp(
            "How long before the end of a role that people sign /readyz says so: 30d, 12h (default: 30d).",
            valueName: "time"
        )
    )
    var readyWithin: DurationArgument?

    @Flag(help: "Answer devices only: no release service under /api/v1.")
    var noApi = false

    @OptionGroup var tls: TLSOptions
    @OptionGroup var refresh: RefreshOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
    }

    func run() async throws {
        try await reporting { try await serve() }
    }

    private var readiness: ReadinessCheck {
        ReadinessCheck(
            folder.folder,
            files: DiskFiles(),
            within: readyWithin?.duration ?? Readiness.within,
            now: Surroundings.now
        )
    }

    private func api() async throws -> ReleaseAPI? {
        guard !noApi else { return nil }
        let desk = try folder.desk(openKey: try refresh.passphrase.reader(askingFor: []))
        for entry in try await desk.recover() {
            Console.standardError.line(
                "patchsrv: \(entry.channel) \(entry.roleVersion) of \(entry.app) was published when the server ended; its "
                    + "history is written now"
            )
        }
        let uploads = Uploads(desk)
        try await uploads.removeStale()
        return ReleaseAPI(desk, uploads: uploads) { Console.standardError.line("patchsrv: \(printable($0))") }
    }

    private func serve() async throws {
        let tree = folder.folder.tree
        guard try DiskFiles().status(of: tree) != nil else { throw Failure.noApps(in: folder.folder) }
        var log: (@Sendable (AccessLogEntry) -> Void)?
        if let accessLog {
            let file = try AccessLog(accessLog)
            log = { file.add($0) }
        }
        var configuration = FileServerConfiguration(host: host, port: port)
        configuration.tls = try tls.identity(at: Surroundings.now())
        let scheme = configuration.tls == nil ? "http" : "https"
        let timer = try refresh.timer(folder.folder)
        let server = FileServer(
            configuration: configuration,
            source: ReleaseServer(PublishedTree(tree, readiness: readiness), api: try await api()),
            accessLog: log,
            errorLog: { Console.standardError.line("patchsrv: \($0)") },
            onListening: { Console.standardOutput.line("patchsrv: listening on \(scheme)://\($0.authority)") }
        )
        let services = [Serving(server: server) as any Service] + (timer.map { [$0] } ?? [])
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
                gracefulShutdownSignals: [.sigint, .sigterm],
                logger: Logger(label: "patchsrv", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        try await group.run()
    }
}

/// The server as a service group runs it.
private struct Serving: Service {
    let server: FileServer

    func run() async throws {
        try await server.run()
    }
}

/// One line a request, each in one write, so that a reader sees whole lines at once.
private struct AccessLog: Sendable {
    private let console: Console

    init(_ path: String) throws {
        if path == "-" {
            console = .standardOutput
            return
        }
        let file = FilePath(argument: path)
        do {
            // Open for the life of the process.
            let descriptor = try FileDescriptor.open(
                file,
                .writeOnly,
                options: [.create, .append],
                permissions: FilePermissions(rawValue: 0o644)
            )
            console = Console(descriptor: descriptor.rawValue, isTerminal: false)
        } catch {
            throw FileError(error as? Errno ?? .ioError, .append, file)
        }
    }

    func add(_ entry: AccessLogEntry) {
        console.line(entry.line)
    }
}

extension SocketAddress {
    /// `127.0.0.1:8080`, `[::1]:8080`.
    fileprivate var authority: String {
        let host = ipAddress ?? "localhost"
        return (host.contains(":") ? "[\(host)]" : host) + ":\(port ?? 0)"
    }
}
