import CommandSupport
import PatchDaemon
import PatchFormat
import SystemPackage

/// Where the daemon's local socket is, and what answers there.
struct ControlPlace: Sendable {
    /// Nil where there is none.
    let path: FilePath?
    /// A listening socket that the service manager passed; it goes before the path.
    let inherited: Int32?
    /// The stores as they are now.
    let hosts: @Sendable () -> [any StoreHost]
    let log: EventLog

    init(_ settings: DaemonSettings, hosts: @escaping @Sendable () -> [any StoreHost], log: EventLog) {
        let sockets = InheritedSockets(environment: ProcessEnvironment.environment)
        sockets.closeOnExec()
        path = settings.socket.path(runtime: ProcessEnvironment.environment("RUNTIME_DIRECTORY"))
        inherited = settings.socket == .none ? nil : sockets.descriptor(named: "control")
        (self.hosts, self.log) = (hosts, log)
    }

    /// Until its task is cancelled.
    func serve() async {
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
    }
}
