package import PatchFormat
package import PatchSync
package import Patchline

/// A store of the daemon, as its local socket uses it.
///
/// Calls that only read or change the store use ``device()``. Calls that concern the running app use the other functions.
package protocol StoreHost: Sendable {
    /// The name in the settings file.
    var name: String { get }

    /// Returns the store's present state.
    func device() throws(SyncError) -> Device

    /// Returns the address of the pages, or nil while they are not served.
    func pages() async -> LocalServer.Address?

    /// Returns the reason why the store's pages are not served now, with a remedy. Nil if they are served.
    func trouble() async -> Failure?

    /// Returns when the daemon contacts the server next, and the reason.
    func nextContact() async -> NextContact?

    /// Runs one sync after the one in progress.
    func sync(_ wish: SyncRequest) async throws(SyncError) -> SyncReport

    /// Starts the pending selection, and reloads open pages.
    func switchToPending() async throws(SyncError)

    /// Marks the app as hidden. Until it is shown again, no launch counts, and only selections that need not wait are started.
    func background() async throws(SyncError)
    func foreground() async throws(SyncError)
}

/// The options of one requested sync.
package struct SyncRequest: Equatable, Sendable {
    /// Whether the network is metered; nil for the device's setting.
    package var isMetered: Bool?
    package var retriesFailed = false

    package init() {}
}

/// When the server is contacted next.
package struct NextContact: Equatable, Sendable {
    package enum Reason: String, Sendable {
        /// The interval of the settings has passed.
        case interval
        /// The last sync failed.
        case backOff
        /// No version is installed yet.
        case first
        /// A sync is in progress.
        case now
        /// The device has no network. The daemon contacts the server once there is one.
        case network
    }

    package let seconds: Int64
    package let reason: Reason

    /// - Parameter seconds: The time from now. 0 if the sync is running or does not wait for a time.
    package init(seconds: Int64, reason: Reason) {
        self.seconds = seconds
        self.reason = reason
    }
}
