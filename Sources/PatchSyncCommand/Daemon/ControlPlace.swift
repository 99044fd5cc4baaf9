import CommandSupport
import Terminal
import DeviceOutput
import PatchDaemon
import PatchFormat
import SystemPackage

/// Where the daemon's local socket is, and what answers there.
struct ControlPlace: Sendable {
    /// Nil where there is none; a listening socket that the service manager passed goes before a path.
    private let place: ControlServer.Place?
    /// The stores as they are now.
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

    /// Until its task is cancelled; where it cannot listen that is told, and the stores are kept all the same.
    ///
    /// - Parameter whenSettled: called once somebody may ask, or it is known that nobody can.
    func serve(telling events: DaemonEvents, _ whenSettled: @escaping @Sendable () -> Void) async {
        if let place {
            let server = ControlServer(at: place, hosts: hosts, log: log) { events.client($0) }
            do throws(ControlError) {
                try await server.run {
                    if case .path(let path) = place { events.answering(at: path) }
                    whenSettled()
                }
                return
            } catch { events.unanswering(Failure(error)) }
        }
        whenSettled()
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
    }
}
