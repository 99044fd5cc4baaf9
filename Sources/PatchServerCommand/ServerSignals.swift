import Glibc
import ServiceLifecycle
import UnixSignals

/// SIGHUP: certificates are read again, and the access log goes on in a new file.
struct Hangups: Service {
    let onHangup: @Sendable () -> Void

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { onHangup() }
    }
}

/// Runs a server; its first SIGINT or SIGTERM lets answers in flight finish, the second ends it at once, with 128 and the
/// signal's number, as shells say.
func endingAtSecondSignal(_ server: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
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
