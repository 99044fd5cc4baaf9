package import AsyncHTTPClient
import Dispatch
import NIOCore

extension HTTPClient.Configuration {
    /// What every client of ours has in common: HTTP/1.1, no redirect followed, nothing unpacked, every answer guarded.
    ///
    /// - Parameter connections: open at once to one server.
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
    /// Runs `body` with a client whose connections are gone when it returns.
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

    /// Returns once all connections are gone.
    ///
    /// By a queue of its own: libdispatch's global ones, once used, have it look at their threads once a second.
    package func close() async {
        await withCheckedContinuation { over in
            shutdown(queue: DispatchQueue(label: "patchline.client")) { _ in over.resume() }
        }
    }
}
