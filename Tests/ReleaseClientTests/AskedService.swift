import HTTPFiles
import NIOCore
import PatchFormat
import Testing

@testable import ReleaseClient

extension FileSource {
    /// Serves it as a release service while `body` asks it.
    func asked<Answer: Sendable>(
        with token: ServiceToken? = nil,
        by body: @Sendable (ServiceClient) async throws(ServiceError) -> Answer
    ) async throws -> Answer {
        let (addresses, listening) = AsyncStream.makeStream(of: SocketAddress.self)
        let server = FileServer(
            configuration: FileServerConfiguration(),
            source: self,
            onListening: { listening.yield($0) }
        )
        return try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            defer { group.cancelAll() }
            let port = try #require(await addresses.first { _ in true }?.port)
            let url = try #require(ServerURL("http://127.0.0.1:\(port)"))
            return try await ServiceClient.with(url, token: token, ServiceClient.Settings(), body)
        }
    }
}
