import AsyncHTTPClient
import NIOCore
package import PatchFormat

/// Opens and closes the client that fetchers share.
extension HTTPFetcher {
    /// The most open connections to one server.
    package static let connections = 6

    /// Limits the process to one event loop, which leaves the other cores to the digests.
    ///
    /// Called first, by a process that only syncs.
    package static func useOneEventLoop() {
        NIOSingletons.groupLoopCountSuggestion = 1
    }

    /// Runs `body` with a server and its mirrors.
    ///
    /// Their connections are closed when this returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ servers: [ServerURL],
        app: AppID,
        _ settings: Settings = Settings(),
        _ body: ([Source]) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withClient(settings) { client, pace throws(Failure) in
            try await body(
                servers.map { server in
                    let fetcher = HTTPFetcher(
                        client: client,
                        places: BaseURLs(server, app: app),
                        settings: settings,
                        pace: pace
                    )
                    return Source(name: server.text, fetcher: fetcher)
                }
            )
        }
    }

    /// Runs `body` with a client that is closed when this returns.
    package static func with<Result: Sendable, Failure: Error>(
        _ places: BaseURLs,
        _ settings: Settings = Settings(),
        _ body: (HTTPFetcher) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await withClient(settings) { client, pace throws(Failure) in
            try await body(HTTPFetcher(client: client, places: places, settings: settings, pace: pace))
        }
    }

    private static func withClient<Result: Sendable, Failure: Error>(
        _ settings: Settings,
        _ body: (HTTPClient, Pace?) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let pace = settings.deadlines.rate.map { Pace($0, clock: settings.clock, sleep: settings.sleep) }
        var configuration = HTTPClient.Configuration(
            trusting: settings.trust,
            connectTimeout: settings.deadlines.connect,
            connections: connections
        )
        configuration.timeout.read = TimeAmount(settings.deadlines.reading)
        return try await HTTPClient.with(configuration) { client throws(Failure) in try await body(client, pace) }
    }
}
