import DeviceOutput
import Glibc
import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchStore
package import PatchFetch
import PatchSync
package import SystemPackage

/// The daemon's server for other programs of this machine: HTTP/1.1 with JSON over a local socket (unix(7)), described by OpenAPI.
///
/// Every program that can open the socket has access. The size and duration of all client input is limited.
package struct ControlServer: Sendable {
    /// The socket on which the server listens.
    package enum Place: Sendable {
        /// The path of a socket. It is created with mode 0660, in a folder that is created with mode 0750 if it is missing.
        case path(FilePath)
        /// A listening socket passed to this process. The server owns it from its start on.
        case inherited(Int32)
    }

    package struct Settings: Sendable {
        /// The deadlines of the daemon's syncs.
        package var deadlines: Deadlines
        package var connections = 64
        /// The interval of heartbeats on an idle event stream.
        package var beat = Duration.seconds(30)
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

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
    ///   - hosts: Returns the present stores. Called for each request.
    ///   - report: Called with one line for each client that was rejected or dropped.
    package init(
        at place: Place,
        _ settings: Settings = Settings(),
        hosts: @escaping @Sendable () -> [any StoreHost],
        log: EventLog,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.place, self.settings, self.hosts, self.log, self.report) = (place, settings, hosts, log, report)
    }

    /// A change of the socket.
    package enum News: Equatable, Sendable {
        /// The server answers clients from now on.
        case listening
        /// The server cannot answer clients. It tries a path again until it can be used.
        case failed(ControlError)
        /// The socket's name was removed, or belongs to another file. The socket is created again.
        case vanished(FilePath)
    }

    /// Serves until the task is cancelled or the service group stops.
    ///
    /// Responses in progress are finished.
    ///
    /// - Parameter notify: Called with each change of the socket.
    package func run(_ notify: @escaping @Sendable (News) -> Void) async {
        let (jobs, later) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        let work = ControlWork(
            hosts: hosts,
            log: log,
            deadlines: settings.deadlines,
            beat: settings.beat,
            later: { later.yield($0) }
        )
        let source = ControlSource(work.routes)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in for await job in jobs { group.addTask { await job() } } }
            }
            switch place {
            case .inherited(let descriptor):
                do throws(FileServerError) {
                    try await server(on: descriptor, source) { notify(.listening) }.run()
                } catch { notify(.failed(.server(error))) }
            case .path(let path): await keep(path, source, notify)
            }
            later.finish()
            group.cancelAll()
        }
    }

    /// The reason why a socket is no longer served.
    private enum End: Equatable, Sendable {
        case stopped
        case vanished
        case broke(ControlError)
    }

    /// Creates the socket, and creates it again whenever its name disappears.
    private func keep(_ path: FilePath, _ source: ControlSource, _ notify: @escaping @Sendable (News) -> Void) async {
        await withDiscardingTaskGroup { group in
            while let socket = await made(path, notify) {
                let (ends, end) = AsyncStream.makeStream(of: End.self)
                // Responses in progress are finished while the next socket is already served.
                group.addTask { await serve(socket, source, end, notify) }
                var reason = End.stopped
                for await first in ends {
                    reason = first
                    break
                }
                switch reason {
                case .stopped: return
                case .vanished: notify(.vanished(path))
                case .broke(let error):
                    notify(.failed(error))
                    guard (try? await settings.sleep(SocketTries.longestPause)) != nil else { return }
                }
            }
        }
    }

    /// - Returns: Nil if the task is cancelled.
    private func made(_ path: FilePath, _ notify: @Sendable (News) -> Void) async -> ControlSocket? {
        var tries = SocketTries()
        while !Task.isCancelled {
            do throws(ControlError) { return try ControlSocket(path) } catch {
                let next = tries.failed(error)
                if next.isReported { notify(.failed(error)) }
                guard (try? await settings.sleep(next.pause)) != nil else { return nil }
            }
        }
        return nil
    }

    /// - Parameter end: Receives the reason when new clients can no longer reach this socket.
    private func serve(
        _ socket: ControlSocket,
        _ source: ControlSource,
        _ end: AsyncStream<End>.Continuation,
        _ notify: @escaping @Sendable (News) -> Void
    ) async {
        let server = server(on: socket.descriptor, source) { notify(.listening) }
        await withTaskGroup(of: End.self) { group in
            group.addTask {
                do throws(FileServerError) { try await server.run() } catch { return .broke(.server(error)) }
                return .stopped
            }
            group.addTask {
                await Self.vanishing(of: socket, unwatched: settings.sleep)
                return Task.isCancelled ? .stopped : .vanished
            }
            end.yield(await group.next() ?? .stopped)
            end.finish()
            group.cancelAll()
        }
        withExtendedLifetime(socket) {}
    }

    /// Returns when the socket's name has disappeared, or the task is cancelled.
    private static func vanishing(
        of socket: ControlSocket,
        unwatched sleep: @Sendable (Duration) async throws -> Void
    ) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let folder = socket.path.removingLastComponent()
        do throws(FileError) {
            let watch = try FolderChanges(of: folder) { change.yield() }
            defer { watch.end() }
            try watch.watch([folder])
            // The name may have disappeared before the watch began.
            change.yield()
            for await _ in changes where !socket.exists { return }
        } catch {
            // Without inotify, the name is checked at an interval.
            while socket.exists, (try? await sleep(SocketTries.longestPause)) != nil {}
        }
    }

    private func server(
        on descriptor: Int32,
        _ source: ControlSource,
        _ whenListening: @escaping @Sendable () -> Void
    ) -> FileServer {
        FileServer(
            configuration: configuration(descriptor),
            source: source,
            errorLog: report,
            onListening: { _ in whenListening() }
        )
    }

    private func configuration(_ descriptor: Int32) -> FileServerConfiguration {
        var configuration = FileServerConfiguration()
        configuration.socket = descriptor
        configuration.maxConnections = settings.connections
        configuration.maxBodyBytes = ControlCall.bodyLimit
        configuration.maxRememberedBytes = 0
        // The socket's permissions already grant access, so clients send no token. Users share the connections
        // (SO_PEERCRED).
        configuration.sharing = .byUser(strangers: nil)
        return configuration
    }
}
