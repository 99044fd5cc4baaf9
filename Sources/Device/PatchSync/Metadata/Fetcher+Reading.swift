import PatchFetch
import PatchFormat

extension Fetcher {
    /// What `read` makes of a document.
    ///
    /// Where it refuses what came of a compressed form, it gets the file itself: beside a file that was replaced an older form
    /// may lie; and so it does where it refuses what came with other files.
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
