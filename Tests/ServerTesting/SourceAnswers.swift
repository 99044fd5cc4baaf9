package import HTTPFiles

extension FileSource {
    /// What it answers at once; nil for what it answers later.
    package func prepared(_ request: FileRequest) -> PreparedReply? {
        if case .now(let reply) = decide(request) { reply } else { nil }
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        await decide(request).answer(to: request)
    }
}
