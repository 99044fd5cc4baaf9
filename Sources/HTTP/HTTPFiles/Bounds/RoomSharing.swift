/// Among whom a server's connections are shared out.
package enum RoomSharing: Equatable, Sendable {
    /// Among addresses: none has more than its share when room is short.
    ///
    /// - trustedProxies: whose word counts for who asks; they have no share themselves.
    case byAddress(trustedProxies: TrustedProxies)
    /// Among the users of this machine, by sock_diag(7) and SO_PEERCRED of unix(7).
    ///
    /// The user of this process, root, and users that the system does not name have no share.
    ///
    /// - strangers: connections of each other user that have shown no right to be here, whether room is short or not; nil
    ///   where there is no right to show: then they have a share as addresses have.
    case byUser(strangers: Int?)
}

/// Whose a connection is, as ``Room`` counts them.
enum ClientGroup: Hashable, Sendable {
    case address(ClientName)
    case user(UInt32)
    /// Without a share: ourselves, a trusted proxy, whoever the system does not tell.
    case boundless

    /// Another user of this machine; nil for all others.
    var user: UInt32? { if case .user(let id) = self { id } else { nil } }

    /// For a line of a log.
    var text: String {
        switch self {
        case .address(let name): AccessLogEntry.escaped(name.text)
        case .user(let id): "user \(id)"
        case .boundless: "others"
        }
    }
}
