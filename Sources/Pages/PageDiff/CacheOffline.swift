/// The value of `cache-offline`: the server's instruction to clients on storing a page.
package enum CacheOffline: String, CaseIterable, Sendable {
    /// Store the page, and show its changes.
    case keepAndRefresh = "true"
    /// Store the page, and show it at the next visit.
    case keepForLater = "store"
    /// Show the page without storing it.
    case keepNothing = "false"
    /// Send requests unchanged, as a browser does, for six hours.
    case switchOff = "http"

    package static let rule = "must be true, store, false or http"

    package var keeps: Bool { self == .keepAndRefresh || self == .keepForLater }

    init?(field: String) {
        self.init(rawValue: field.lowercased())
    }
}
