package import PatchFormat
package import PatchSync
package import Patchline

/// A store that the daemon looks after, as its local socket sees it.
///
/// What only reads or changes the store goes by ``device()``; what concerns the running app goes by the other calls.
package protocol StoreHost: Sendable {
    /// As the settings file names it.
    var name: String { get }

    /// The store as it is now.
    func device() throws(SyncError) -> Device

    /// Where pages are served; nil while they are not.
    func pages() async -> LocalServer.Address?

    /// Why the store's pages are not served now, and a remedy; nil if they are.
    func trouble() async -> Failure?

    /// When the daemon asks the server next, and why then.
    func nextLook() async -> NextLook?

    /// One sync, after the one in progress.
    func sync(_ wish: SyncWish) async throws(SyncError) -> SyncReport

    /// Starts the pending selection; open pages are told to reload.
    func switchToPending() async throws(SyncError)

    /// The app is not seen any more: no launch counts, and nothing switches before it is seen again but what need not wait.
    func background() async throws(SyncError)
    func foreground() async throws(SyncError)
}

/// What somebody wants of one sync.
package struct SyncWish: Equatable, Sendable {
    /// Nil: as the device is set.
    package var isMetered: Bool?
    package var retriesFailed = false

    package init() {}
}

/// When a server is asked next.
package struct NextLook: Equatable, Sendable {
    package enum Reason: String, Sendable {
        /// The interval that the settings name.
        case interval
        /// The last sync failed.
        case backOff
        /// Nothing is installed yet.
        case first
        /// A sync is in progress.
        case now
        /// The device is without a network; it asks once there is one.
        case network
    }

    package let seconds: Int64
    package let reason: Reason

    /// - Parameter seconds: from now on; 0 where it is under way or waits for something else than time.
    package init(seconds: Int64, reason: Reason) {
        self.seconds = seconds
        self.reason = reason
    }
}
