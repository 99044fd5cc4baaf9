import Glibc
import Logging
import PatchServer
import ServiceLifecycle
import CommandKit
import UnixSignals

/// On SIGHUP, reads the certificates again and reopens the access log.
///
/// Ends when the program's terminal is closed.
struct Hangups: Service {
    let onHangup: @Sendable () -> Void
    private let terminal = InputTerminal()

    init(onHangup: @escaping @Sendable () -> Void) { self.onHangup = onHangup }

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            if terminal.isClosed { return }
            onHangup()
        }
    }
}

/// Runs services until one of them ends or a signal arrives.
///
/// They are stopped in reverse order.
func serving(_ services: [any Service], stoppingWithin time: Duration, _ log: ServerLog) async throws {
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: Logger(label: "patchsrv", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    )
    try await endingAtSecondSignal(stoppingWithin: time, log: log) { try await group.run() }
}

/// Runs a server.
///
/// Its first SIGINT or SIGTERM lets requests in progress finish.
///
/// The second ends it at once, with 128 plus the signal's number, as shells expect. The first one does the same if the time is
/// exceeded.
///
/// - Parameter time: The time for requests in progress. A moment more is allowed for the work that follows them.
func endingAtSecondSignal(
    stoppingWithin time: Duration,
    log: ServerLog,
    _ server: @escaping @Sendable () async throws -> Void
) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let deadline = StopDeadline([SIGINT, SIGTERM], allowing: time + .seconds(2)) {
        log.text(.error, overdue(time))
    }
    defer { deadline.lift() }
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server() }
        group.addTask {
            var count = 0
            for await signal in signals {
                count += 1
                if count == 2 { _exit(128 + (signal == .sigint ? SIGINT : SIGTERM)) }
            }
        }
        try await group.next()
        group.cancelAll()
    }
}

/// The last message of a server that does not stop in time.
func overdue(_ time: Duration) -> String {
    "did not stop within \(DurationText(time)) of the signal: it ends with unfinished work"
}
