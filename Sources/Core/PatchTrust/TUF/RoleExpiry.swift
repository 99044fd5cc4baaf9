package import PatchFormat

/// The expiry of one role of a repository, and the party that signs it again.
package struct RoleExpiry: Hashable, Sendable {
    /// The party that signs a role again.
    package enum Keeper: String, Sendable {
        /// Key holders, with offline keys.
        case holders
        /// The server, automatically every few hours.
        case server
    }

    package enum State: Equatable, Sendable {
        case holds
        /// Expires within the requested time.
        case endsSoon
        case expired
    }

    /// The server's roles are valid for seven days and are signed every six hours.
    ///
    /// If less than this is left, signing has stopped.
    package static let serverMargin = Duration.days(2)

    package let role: String
    package let version: Int
    package let expires: UTCTime
    package let keeper: Keeper

    package init(role: String, header: RoleHeader, keeper: Keeper) {
        self.role = role
        self.version = header.version
        self.expires = header.expires
        self.keeper = keeper
    }

    /// - Parameter within: how long before its expiry a role is reported, for the server's roles at most ``serverMargin``.
    package func state(within: Duration, at time: UTCTime) -> State {
        guard expires > time else { return .expired }
        let margin = keeper == .server ? min(within, Self.serverMargin) : within
        return expires <= time.adding(margin) ? .endsSoon : .holds
    }
}
