import Glibc
import Logging
import PatchServer
import ServiceLifecycle
import CommandKit
import UnixSignals

/// SIGHUP: certificates are read again, and the access log goes on in a new file.
struct Hangups: Service {
    let onHangup: @Sendable () -> Void

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { onHangup() }
    }
}

/// Runs services until the first of them ends or a signal comes; stopped from the last to the first.
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

/// Runs a server; its first SIGINT or SIGTERM lets answers in flight finish.
///
/// The second ends it at once, with 128 and the signal's number, as shells say. So does the first one when all is not over in time.
///
/// - Parameter time: for answers in flight; then a moment more, for what follows on them.
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

/// What a server says last that does not end in time.
func overdue(_ time: Duration) -> String {
    "was told to stop and did not within \(DurationText(time)): it ends with work undone"
}
