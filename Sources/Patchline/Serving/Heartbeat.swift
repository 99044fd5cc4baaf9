import AssetServer
import ServiceLifecycle

/// Keeps streams of events from looking dead.
struct Heartbeat: Service {
    let events: PageEvents

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(15))) != nil { events.beat() }
        }
    }
}
