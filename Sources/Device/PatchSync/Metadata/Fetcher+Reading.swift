import PatchFetch
import PatchFormat

extension Fetcher {
    /// Downloads a document and returns the result of `read`.
    ///
    /// If `read` rejects a document that was received compressed, the plain file is requested, because a server may still have the
    /// compressed form of an older file. The same applies to a document that was received together with others.
    func document<Value>(
        _ request: FetchRequest,
        reading read: (_ bytes: [UInt8]) throws(SyncError) -> Value
    ) async throws(SyncError) -> Value {
        var request = request
        request.takesShort = true
        let document = try await fetched(request)
        do throws(SyncError) {
            return try read(document.bytes)
        } catch {
            if let doubt = document.doubt { throw .fetch(doubt) }
            guard document.coding != nil || document.isPrefilled else { throw error }
            return try read(try await fetched(request.plain).bytes)
        }
    }

    private func fetched(_ request: FetchRequest) async throws(SyncError) -> Document {
        do throws(FetchError) { return try await document(request) } catch { throw .fetch(error) }
    }
}
