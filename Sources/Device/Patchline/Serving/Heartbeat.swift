import AssetServer
import ServiceLifecycle

/// Sends heartbeats on open event streams, so that they do not appear dead.
struct Heartbeat: Service {
    static let interval = Duration.seconds(15)

    let events: PageEvents
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await events.untilListened()
                guard (try? await sleep(Self.interval)) != nil else { return }
                events.beat()
            }
        }
    }
}
