import PatchFormat
import PatchStore
import PatchTrust

extension SyncEngine {
    /// A signature column from the first server that has it as it was signed; digested as it comes, whole or not at all.
    ///
    /// - Returns: how many bytes came.
    func receive(
        _ digest: SHA256Digest,
        path: String,
        limit: Int,
        _ target: TargetPath
    ) async throws(SyncError) -> Int {
        var attempts = Attempts(deadlines)
        var passedOver: [String: SyncError] = [:]
        while true {
            var errors: [SyncError] = []
            for source in sources.inOrder where passedOver[source.name] == nil {
                do throws(SyncError) {
                    return try await receive(digest, path: path, limit: limit, target, from: source.fetcher)
                } catch {
                    if error.isOwn { throw error }
                    errors.append(error)
                    if error.isNetwork {
                        sources.putLast(source)
                    } else {
                        passedOver[source.name] = error
                        if error.isLie { sources.note(MirrorFault(server: source.name, wrong: .lied(error))) }
                    }
                }
            }
            let next = attempts.failed(errors.compactMap(\.fetchError), progress: false, random: pauses.random())
            guard let first = errors.first, case .again(let wait) = next else {
                throw passedOver.values.first ?? errors.first ?? .fetch(.notFound(path))
            }
            if let error = await pause(wait, because: first) { throw error }
        }
    }

    private func receive(
        _ digest: SHA256Digest,
        path: String,
        limit: Int,
        _ target: TargetPath,
        from fetcher: any Fetcher
    ) async throws(SyncError) -> Int {
        var fetchError: FetchError?
        do throws(StoreError) {
            var receiver = try store.objects.receive(digest, limit: limit)
            var storeError: StoreError?
            do throws(FetchError) {
                try await fetcher.fetch(path, limit: limit, deadline: deadlines.object(of: limit)) {
                    chunk throws(FetchError) in
                    do throws(StoreError) { try receiver.append(chunk) } catch {
                        storeError = error
                        throw .notTaken(path, reason: error.description)
                    }
                }
            } catch { fetchError = error }
            if let storeError { throw storeError }
            if fetchError == nil { return try receiver.finish().size }
        } catch .mismatch {
            throw .trust(.wrongDigest(name: target.text, algorithm: "sha256"))
        } catch { throw SyncError(error, entry: target.text) }
        throw fetchError.map { .fetch($0) } ?? .fetch(.cancelled)
    }
}

extension SyncError {
    fileprivate var isNetwork: Bool { fetchError?.isNetwork == true }

    fileprivate var isLie: Bool {
        if case .fetch(let error) = self { error.isLie } else { true }
    }
}
