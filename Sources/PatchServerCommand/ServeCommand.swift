import CommandSupport
import ArgumentParser
import HTTPFiles
import Logging
import NIOCore
import PatchServer
import PatchStore
import ServiceLifecycle
import SystemPackage
import Terminal
import UnixSignals

/// `patchsrv serve`: serves the published tree.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves the published tree over HTTP.",
        discussion: """
            Needs no key and no restart after `patchsrv publish`. Prints one line once it listens. GET /healthz answers 200.
            SIGINT and SIGTERM let answers in flight finish first.

            EXAMPLES
              patchsrv serve --data /srv/patchline
              patchsrv serve --data /srv/patchline --host 0.0.0.0 --port 80 --access-log /var/log/patchline.log
            """
    )

    @OptionGroup var folder: FolderOptions

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port to listen on; 0 takes any free one.", valueName: "port"))
    var port = 8080

    @Option(help: ArgumentHelp("Where to add one line for each request; - is standard output.", valueName: "file"))
    var accessLog: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
    }

    func run() async throws {
        try await reporting { try await serve() }
    }

    private func serve() async throws {
        let tree = folder.folder.tree
        guard try DiskFiles().status(of: tree) != nil else { throw Failure.noApps(in: folder.folder) }
        var log: (@Sendable (AccessLogEntry) -> Void)?
        if let accessLog {
            let file = try AccessLog(accessLog)
            log = { file.add($0) }
        }
        let server = FileServer(
            configuration: FileServerConfiguration(host: host, port: port),
            source: PublishedTree(tree),
            accessLog: log,
            errorLog: { Console.standardError.line("patchsrv: \($0)") },
            onListening: { Console.standardOutput.line("patchsrv: listening on http://\($0.authority)") }
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: Serving(server: server), successTerminationBehavior: .gracefullyShutdownGroup)
                ],
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
