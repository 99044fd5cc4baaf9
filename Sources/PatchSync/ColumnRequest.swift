import PatchFormat
import PatchStore
import PatchTrust

extension SyncEngine {
    /// A signature column from the server into the store, digested as it comes; whole or not at all.
    ///
    /// - Returns: how many bytes came.
    func receive(
        _ digest: SHA256Digest,
        path: String,
        limit: Int,
        _ target: TargetPath
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
