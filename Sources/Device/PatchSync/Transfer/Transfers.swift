import PatchChoice
import PatchFetch
import PatchStore

/// What objects travel by: the servers they come from, the store they go to, and how long they may take.
struct Transfers: Sendable {
    /// Objects that travel at once: one connection stays free to ask for a newer list.
    static let parallel = HTTPFetcher.connections - 1

    let sources: Sources
    let objects: ObjectStore
    let deadlines: Deadlines
    let timing: RetryTiming
    let report: @Sendable (SyncEvent) -> Void
    /// Nil if so many more bytes fit on the disk now.
    var lacksRoom: @Sendable (_ bytes: Int) -> RoomWait? = { _ in nil }

    /// Waits for the next try, or for the network.
    ///
    /// - Returns: why the sync ends here.
    func pause(_ duration: Duration, because error: SyncError) async -> SyncError? {
        report(.waiting(duration, because: error))
        do throws(FetchError) {
            if try await timing.wait(duration) == .networkChanged { report(.networkChanged) }
            return nil
        } catch { return .fetch(error) }
    }
}
