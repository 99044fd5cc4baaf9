import CommandKit
import DeviceOutput
import PatchDaemon
import PatchFormat
import SystemPackage

/// The daemon's local socket, and the stores that it serves.
struct ControlPlace: Sendable {
    /// The socket, or nil for none.
    ///
    /// A listening socket from the service manager takes precedence over a path.
    private let place: ControlServer.Place?
    /// Returns the present stores.
    let hosts: @Sendable () -> [any StoreHost]
    let log: EventLog

    init(_ settings: DaemonSettings, hosts: @escaping @Sendable () -> [any StoreHost], log: EventLog) {
        let sockets = InheritedSockets(environment: ProcessEnvironment.environment)
        sockets.closeOnExec()
        let path = settings.socket.path(runtime: ProcessEnvironment.environment("RUNTIME_DIRECTORY"))
        let inherited = settings.socket == .none ? nil : sockets.descriptor(named: "control")
        place = inherited.map { .inherited($0) } ?? path.map { .path($0) }
        (self.hosts, self.log) = (hosts, log)
    }

    /// Serves until the task is cancelled.
    ///
    /// A socket that cannot be used is reported and tried again. The stores do not wait for it.
    ///
    /// - Parameter whenSettled: Called when the first attempt has succeeded or failed. It may be called again later.
    func serve(telling events: DaemonEvents, _ whenSettled: @escaping @Sendable () -> Void) async {
        if let place {
            let server = ControlServer(at: place, hosts: hosts, log: log) { events.client($0) }
            await server.run { news in
                switch news {
                case .listening: if case .path(let path) = place { events.answering(at: path) }
                case .failed(let error): events.unanswering(Failure(error), isTriedAgain: place.isPath)
                case .vanished(let path): return events.vanished(path)
                }
                whenSettled()
            }
        }
        whenSettled()
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
    }
}

extension ControlServer.Place {
    fileprivate var isPath: Bool { if case .path = self { true } else { false } }
}
