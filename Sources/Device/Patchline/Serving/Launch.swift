import ServiceLifecycle

/// Launches the app once the port is bound.
///
/// Then follows state and timer, and runs updates.
struct Launch: Service {
    let bound: AsyncStream<Int>
    let updates: Updates
    let watch: ParametersWatch
    let launch: @Sendable (Int) async throws -> RunningApp

    func run() async throws {
        for await port in bound.cancelOnGracefulShutdown() {
            let app = try await launch(port)
            return await withDiscardingTaskGroup { group in
                group.addTask { await app.run() }
                group.addTask { await updates.run() }
                group.addTask { await cancelWhenGracefulShutdown { await watch.run() } }
            }
        }
    }
}
