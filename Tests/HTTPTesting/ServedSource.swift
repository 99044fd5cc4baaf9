package import HTTPFiles
import NIOCore

/// The server ended before it listened.
private struct NotListening: Error {}

/// Runs a file server on a port of its own while `body` runs.
package func serving<Result: Sendable>(
    _ source: any FileSource,
    tls: TLSIdentity? = nil,
    accessLog: (@Sendable (AccessLogEntry) -> Void)? = nil,
    _ body: (_ port: Int) async throws -> Result
) async throws -> Result {
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    var configuration = FileServerConfiguration()
    configuration.tls = tls.map { RenewableIdentity($0) }
    configuration.drainTimeout = .milliseconds(100)
    let server = FileServer(
        configuration: configuration,
        source: source,
        accessLog: accessLog,
        onListening: { listening.yield($0.port ?? 0) }
    )
    let task = Task {
        defer { listening.finish() }
        try await server.run()
    }
    guard let port = await ports.first(where: { _ in true }) else { throw NotListening() }
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(port)) } catch { result = .failure(error) }
    task.cancel()
    try await task.value
    return try result.get()
}
