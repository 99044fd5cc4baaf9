import APIProxy
import NIOHTTP1
import PatchFetch
import PatchFormat
import Testing

@testable import PatchSync
@testable import ReleaseClient

/// The users of TLS on our side of a connection.
enum TestedClient: CaseIterable {
    case device
    case proxy
    case webSocket
    case releaseClient

    /// - Returns: why it did not ask; nil where any answer came.
    func asks(_ url: String, trusting pem: [UInt8]) async throws -> String? {
        let server = try #require(ServerURL(url)), app = try #require(AppID("com.example.storefront"))
        switch self {
        case .device:
            var settings = HTTPFetcher.Settings()
            settings.trust = try TLSTrust(authorities: pem, pins: [])
            return await HTTPFetcher.with([server], app: app, settings) { sources in
                do throws(FetchError) {
                    _ = try await sources[0].fetcher.bytes("x", limit: 100_000, deadline: .seconds(300))
                    return nil
                } catch { return if case .tls(let fault) = error { fault.description } else { nil } }
            }
        case .releaseClient:
            var settings = ServiceClient.Settings()
            (settings.authorities, settings.retries) = (pem, 0)
            do throws(ServiceError) {
                _ = try await ServiceClient.with(server, token: nil, settings) { client throws(ServiceError) in
                    try await client.bytes(ServiceRequest(method: .GET, path: "/x"))
                }
                return nil
            } catch { return if case .tls = error { error.description } else { nil } }
        case .proxy, .webSocket:
            let rules = ProxyRules([try ProxyRule(argument: "/.*=\(url)")])
            let settings = APIProxy.Settings(rules: rules, trust: try TLSTrust(authorities: pem))
            return try await APIProxy.with(settings) { proxy in
                try await ServedProxy.running(proxy) { served in
                    if self == .proxy {
                        if case .refused("tls") = await served.ask("/x", sending: 0) { return "tls" }
                    } else if case .refused("502") = try await served.upgrade("/x") {
                        return "tls"
                    }
                    return nil
                }
            }
        }
    }
}
