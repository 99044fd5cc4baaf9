import AsyncHTTPClient
import NIOCore
package import PatchFormat

/// The client that stands behind fetchers, from its opening to its end.
extension HTTPFetcher {
    /// For a process that only syncs, before it does anything else: one event loop leaves the other cores to the digests.
    package static func useOneEventLoop() {
        NIOSingletons.groupLoopCountSuggestion = 1
    }

    /// Runs `body` with all servers of a device, in order, as its configuration says that they are reached.
    package static func with<Result: Sendable>(
        serversOf configuration: DeviceConfiguration,
        _ deadlines: Deadlines,
        _ body: ([Source]) async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        var settings = Settings()
        settings.deadlines = deadlines
        do throws(TLSFault) { settings.trust = try configuration.access.trust() } catch { throw .fetch(.tls(error)) }
        let servers = [configuration.server] + configuration.access.mirrors
        return try await with(servers, app: configuration.app, settings, body)
    }

    /// Runs `body` with a server and its mirrors, whose connections are gone when it returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ servers: [ServerURL],
        app: AppID,
        _ settings: Settings = Settings(),
        _ body: ([Source]) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withClient(settings) { client throws(Failure) in
            try await body(
                servers.map { server in
                    let fetcher = HTTPFetcher(
                        client: client,
                        places: Places(server, app: app),
                        settings: settings
                    )
                    return Source(name: server.text, fetcher: fetcher)
                }
            )
        }
    }

    /// Runs `body` with a client that is gone when it returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ places: Places,
        _ settings: Settings = Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withClient(settings) { client throws(Failure) in
            try await body(HTTPFetcher(client: client, places: places, settings: settings))
        }
    }

    private static func withClient<Result: Sendable, Failure: Error>(
        _ settings: Settings,
        _ body: (HTTPClient) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = TimeAmount(settings.deadlines.connect)
        configuration.timeout.read = TimeAmount(settings.deadlines.stall)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Transfers.connections
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        settings.trust.apply(to: &configuration)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Swift.Result<Result, Failure>
        do throws(Failure) {
            result = .success(try await body(client))
        } catch { result = .failure(error) }
        try? await client.shutdown()
        return try result.get()
    }
}
