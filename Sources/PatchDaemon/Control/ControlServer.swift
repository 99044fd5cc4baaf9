import DeviceOutput
import Glibc
import HTTPFiles
import NIOCore
import NIOHTTP1
package import PatchFetch
import PatchSync
package import SystemPackage

/// What others of this machine ask the daemon by: HTTP/1.1 with JSON over a local socket (unix(7)), described by OpenAPI.
///
/// Who may ask is who may reach the socket. Everything that a client sends is bounded, in bytes and in time.
package struct ControlServer: Sendable {
    /// Where it listens.
    package enum Place: Sendable {
        /// Made with 0660, in a folder that is made with 0750 where it is missing.
        case path(FilePath)
        /// A listening socket that was passed to this process: it is the server's from its start on.
        case inherited(Int32)
    }

    package struct Settings: Sendable {
        /// Of the daemon's syncs.
        package var deadlines: Deadlines
        package var connections = 64
        /// How often an idle stream of events shows that it is still there.
        package var beat = Duration.seconds(30)

        package init(deadlines: Deadlines = Deadlines()) {
            self.deadlines = deadlines
        }
    }

    private let place: Place
    private let settings: Settings
    private let hosts: @Sendable () -> [any StoreHost]
    private let log: EventLog
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - hosts: the stores as they are now, called for each request.
    ///   - report: called with one line about clients that were refused or dropped.
    package init(
        at place: Place,
        _ settings: Settings = Settings(),
        hosts: @escaping @Sendable () -> [any StoreHost],
        log: EventLog,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.place, self.settings, self.hosts, self.log, self.report) = (place, settings, hosts, log, report)
    }

    /// Serves until the task is cancelled or the service group stops; answers in flight are finished.
    ///
    /// - Parameter whenListening: called once; from then on clients are answered.
    package func run(whenListening: @escaping @Sendable () -> Void = {}) async throws(ControlError) {
        switch place {
        case .inherited(let descriptor): try await serve(on: descriptor, whenListening)
        case .path(let path):
            let socket = try ControlSocket(path)
            try await serve(on: socket.descriptor, whenListening)
            withExtendedLifetime(socket) {}
        }
    }

    private func serve(on descriptor: Int32, _ whenListening: @escaping @Sendable () -> Void) async throws(ControlError)
    {
        let (jobs, later) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        let work = ControlWork(
            hosts: hosts,
            log: log,
            deadlines: settings.deadlines,
            beat: settings.beat,
            later: { later.yield($0) }
        )
        let server = FileServer(
            configuration: configuration(descriptor),
            source: ControlSource(work.routes),
            errorLog: report,
            onListening: { _ in whenListening() }
        )
        let result: Result<Void, ControlError> = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in for await job in jobs { group.addTask { await job() } } }
            }
            defer {
                later.finish()
                group.cancelAll()
            }
            do throws(FileServerError) { return .success(try await server.run()) } catch {
                return .failure(.server(error))
            }
        }
        try result.get()
    }

    private func configuration(_ descriptor: Int32) -> FileServerConfiguration {
        var configuration = FileServerConfiguration()
        configuration.socket = descriptor
        configuration.maxConnections = settings.connections
        configuration.maxBodyBytes = ControlCall.bodyLimit
        configuration.maxRememberedBytes = 0
        // Whoever reaches the socket was let in, and nobody tells whose a connection is.
        configuration.sharing = .byUser(strangers: nil)
        return configuration
    }
}
