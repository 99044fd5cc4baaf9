package import AsyncHTTPClient
import Dispatch
import NIOCore

extension HTTPClient.Configuration {
    /// The configuration that all our clients share: HTTP/1.1, no automatic redirects, no decompression, every answer guarded.
    ///
    /// - Parameter connections: The most open connections to one server.
    package init(trusting trust: TLSTrust, connectTimeout: Duration, connections: Int) {
        self.init()
        redirectConfiguration = .disallow
        decompression = .disabled
        httpVersion = .http1Only
        timeout.connect = TimeAmount(connectTimeout)
        connectionPool.retryConnectionEstablishment = false
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        trust.apply(to: &self)
    }
}

extension HTTPClient {
    /// Runs `body` with a client.
    ///
    /// Its connections are closed when this returns.
    package static func with<Value: Sendable, Failure: Error>(
        _ configuration: Configuration,
        _ body: (HTTPClient) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    /// Closes all connections and returns afterwards.
    ///
    /// It uses a queue of its own, because libdispatch's global queues, once used, check their threads every second.
    package func close() async {
        await withCheckedContinuation { over in
            shutdown(queue: DispatchQueue(label: "patchline.client")) { _ in over.resume() }
        }
    }
}
