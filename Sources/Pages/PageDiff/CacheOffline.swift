/// What a server has its clients do with a page: `cache-offline`.
package enum CacheOffline: String, CaseIterable, Sendable {
    /// Keep it, and show what changed.
    case keepAndRefresh = "true"
    /// Keep it for the next time.
    case keepForLater = "store"
    /// Show it, and keep none of it.
    case keepNothing = "false"
    /// Ask as a browser does, for six hours.
    case switchOff = "http"

    package static let rule = "must be true, store, false or http"

    package var keeps: Bool { self == .keepAndRefresh || self == .keepForLater }

    init?(field: String) {
        self.init(rawValue: field.lowercased())
    }
}
