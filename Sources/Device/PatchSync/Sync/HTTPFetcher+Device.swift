package import PatchFetch
import PatchFormat

extension HTTPFetcher {
    /// The maximum number of redirects for one file.
    static let mostRedirects = 3

    /// Runs `body` with all servers of a device, in order, with the configured network access.
    package static func with<Result: Sendable>(
        serversOf configuration: DeviceConfiguration,
        _ deadlines: Deadlines,
        onDate: (@Sendable (String) -> Void)? = nil,
        _ body: ([Source]) async throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        var settings = Settings()
        (settings.deadlines, settings.onDate) = (deadlines, onDate)
        settings.redirects = HTTPFetcher.mostRedirects
        do throws(TLSFault) { settings.trust = try configuration.access.trust() } catch { throw .fetch(.tls(error)) }
        let servers = [configuration.server] + configuration.access.mirrors
        return try await with(servers, app: configuration.app, settings, body)
    }
}
