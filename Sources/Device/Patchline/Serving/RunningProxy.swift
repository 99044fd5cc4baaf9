import APIProxy
import PatchSync

/// A proxy that serves an app until it is ended, which closes its connections.
struct RunningProxy: Sendable {
    private let task: Task<Void, Never>
    private let whenOver: AsyncStream<Never>.Continuation

    /// Starts the proxy.
    ///
    /// Returns once `app` passes requests on.
    init(
        _ settings: APIProxy.Settings,
        of device: Device,
        before app: LocalServer,
        report: @escaping @Sendable (PatchlineApp.Event) -> Void
    ) async {
        let (over, whenOver) = AsyncStream.makeStream(of: Never.self)
        let (ready, whenReady) = AsyncStream.makeStream(of: Never.self)
        self.whenOver = whenOver
        task = Task {
            try? await device.proxying(settings, report: { report(.trouble($0)) }) { proxy in
                await app.delegate(to: proxy)
                whenReady.finish()
                for await _ in over {}
            }
        }
        for await _ in ready {}
    }

    func end() async {
        whenOver.finish()
        await task.value
    }
}
