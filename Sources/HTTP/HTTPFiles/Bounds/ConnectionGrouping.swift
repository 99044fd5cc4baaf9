package import HTTPCore

/// How a server's connections are divided into groups that share its places.
package enum ConnectionGrouping: Equatable, Sendable {
    /// By address: none has more than its share when room is short.
    ///
    /// - trustedProxies: The proxies whose `X-Forwarded-For` identifies the client. They have no share themselves.
    case byAddress(trustedProxies: TrustedProxies)
    /// By user of this machine, read from sock_diag(7) and SO_PEERCRED of unix(7).
    ///
    /// The user of this process, root, and users that the system does not report have no share.
    ///
    /// - strangers: The most connections of each other user that have shown no right, even while there is room. If nil, there is no
    ///   right to show, and users have a share as addresses have.
    case byUser(strangers: Int?)
}

/// The group that ``ConnectionLimiter`` counts a connection for.
enum ClientGroup: Hashable, Sendable {
    case address(ClientName)
    case user(UInt32)
    /// Without a share: this process's own user, a trusted proxy, and clients that the system cannot identify.
    case boundless

    /// The other user of this machine, or nil for all other groups.
    var user: UInt32? { if case .user(let id) = self { id } else { nil } }

    /// The text for a log line.
    var text: String {
        switch self {
        case .address(let name): AccessLogEntry.escaped(name.text)
        case .user(let id): "user \(id)"
        case .boundless: "others"
        }
    }
}
