package import PatchFormat

/// Until when one role of a repository holds, and who has to sign it again.
package struct RoleExpiry: Hashable, Sendable {
    /// Who signs a role again.
    package enum Keeper: String, Sendable {
        /// People, with keys that are offline.
        case holders
        /// The server, by itself, every few hours.
        case server
    }

    package enum State: Equatable, Sendable {
        case holds
        /// Ends within the time that was asked for.
        case endsSoon
        case expired
    }

    /// What the server signs holds seven days and is signed every six hours: with less left than this, that has stopped.
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

    /// - Parameter within: how long before its end a role is reported; for what the server signs at most ``serverMargin``.
    package func state(within: Duration, at time: UTCTime) -> State {
        guard expires > time else { return .expired }
        let margin = keeper == .server ? min(within, Self.serverMargin) : within
        return expires <= time.adding(margin) ? .endsSoon : .holds
    }
}
