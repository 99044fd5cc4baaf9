import PatchChoice
import PatchFetch
import PatchStore

/// The resources of transfers: the servers, the store, and the deadlines.
struct Transfers: Sendable {
    /// The number of parallel transfers.
    ///
    /// One connection stays free for checking for a newer list.
    static let parallel = HTTPFetcher.connections - 1

    let sources: Sources
    let objects: ObjectStore
    let deadlines: Deadlines
    let timing: RetryTiming
    let report: @Sendable (SyncEvent) -> Void
    /// Returns nil if so many more bytes fit on the disk now.
    var spaceShortage: @Sendable (_ bytes: Int) -> SpaceShortage? = { _ in nil }

    /// Waits for the next try, or for the network.
    ///
    /// - Returns: why the sync ends here, or nil to continue.
    func pause(_ duration: Duration, because error: SyncError) async -> SyncError? {
        report(.waiting(duration, because: error))
        do throws(FetchError) {
            if try await timing.wait(duration) == .networkChanged { report(.networkChanged) }
            return nil
        } catch { return .fetch(error) }
    }
}
