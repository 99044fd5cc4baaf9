import NIOConcurrencyHelpers
import PatchFetch

/// How many bytes came of some servers, whatever for.
final class ByteCount: Sendable {
    private let state = NIOLockedValueBox(0)

    var bytes: Int { state.withLockedValue(\.self) }

    func add(_ bytes: Int) { state.withLockedValue { $0 += bytes } }
}

/// A server whose answers are counted.
struct CountingFetcher: Fetcher {
    let server: any Fetcher
    let count: ByteCount

    func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        try await server.fetch(request) { part throws(FetchError) in
            if case .bytes(let chunk) = part { count.add(chunk.count) }
            try await take(part)
        }
    }

    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        let bytes = try await server.bytes(path, known: known, limit: limit, deadline: deadline)
        // What is known does not travel where its server names it.
        if bytes != known { count.add(bytes.count) }
        return bytes
    }
}

extension Source {
    func counted(by count: ByteCount) -> Source {
        Source(name: name, fetcher: CountingFetcher(server: fetcher, count: count))
    }
}
