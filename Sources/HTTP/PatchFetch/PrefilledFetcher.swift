/// Files that were already received, and one that the server reported as missing.
package struct Prefill: Sendable {
    package let files: [String: [UInt8]]
    package let missing: String

    package init(_ files: [String: [UInt8]], missing: String) {
        (self.files, self.missing) = (files, missing)
    }
}

/// Answers requests from the prefilled files, and passes all others to the server.
///
/// The receiver verifies these bytes like all others. If it rejects them, it requests the plain file, which the server sends.
package struct PrefilledFetcher: Fetcher {
    private let prefill: Prefill
    private let server: any Fetcher

    package init(_ prefill: Prefill, before server: any Fetcher) {
        (self.prefill, self.server) = (prefill, server)
    }

    package func fetch(
        _ request: FetchRequest,
        take: (_ part: FetchedPart) async throws(FetchError) -> Void
    ) async throws(FetchError) {
        guard !request.isPlain, request.resume == nil, request.question == nil else {
            return try await server.fetch(request, take: take)
        }
        if request.path == prefill.missing { throw .notFound(request.path) }
        guard let bytes = prefill.files[request.path], bytes.count <= request.limit else {
            return try await server.fetch(request, take: take)
        }
        try await take(.head(FetchedHead(isPrefilled: true)))
        try await take(.bytes(bytes))
    }

    package func bytes(
        _ path: String,
        known: [UInt8],
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        if let bytes = prefill.files[path], bytes.count <= limit { return bytes }
        return try await server.bytes(path, known: known, limit: limit, deadline: deadline)
    }
}
