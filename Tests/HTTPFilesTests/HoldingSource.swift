import HTTPCore
import HTTPFiles
import NIOHTTP1

/// Answers `/held` once it is told to, and all else as another source does.
struct HoldingSource: FileSource {
    private let source: any FileSource
    private let gate = AsyncStream.makeStream(of: Void.self)
    private let asked = AsyncStream.makeStream(of: Void.self)

    init(_ source: any FileSource) {
        self.source = source
    }

    func everyAnswerFields(to headers: HTTPHeaders?) -> HTTPHeaders { source.everyAnswerFields(to: headers) }

    func decide(_ request: FileRequest) -> FileDecision {
        guard request.path.text == "/held" else { return source.decide(request) }
        return .later(.whole) { _ in
            asked.continuation.yield()
            _ = await gate.stream.first { true }
            return .bytes(.digits)
        }
    }

    /// Runs `body` while `client` waits for its answer, which it gets afterwards.
    func holding(_ client: inout RawClient, _ body: () async throws -> Void) async throws -> RawResponse {
        try await client.send(request("GET", "/held"))
        _ = await asked.stream.first { true }
        try await body()
        gate.continuation.yield()
        return try await client.response()
    }
}
