import AssetServer
import ServiceLifecycle

/// Keeps streams of events from looking dead, while there are any.
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
