/// How many places a server has, and how they are shared out when room is short.
package struct RoomRule: Equatable, Sendable {
    /// Connections at a time.
    package let limit: Int
    /// Of each other user, those that have shown no right; nil: no other bound than the share.
    var strangers: Int?

    /// Room is short when no more than these places are free: they are for groups that have less than their share.
    package var reserve: Int { limit / 4 }

    /// Places of one group while room is short.
    package var share: Int { max(4, limit / 64) }

    /// Of tunnels, which have no end of their own.
    var tunnels: Int { max(1, limit / 4) }

    /// Tunnels are shared out as places are, so that one address cannot use all of them.
    var tunnelRule: RoomRule { RoomRule(limit: tunnels) }

    /// Refused connections that get their answer in peace at a time; beyond them a refusal may be lost.
    var refusals: Int { max(4, limit / 16) }

    package init(limit: Int, strangers: Int? = nil) {
        (self.limit, self.strangers) = (limit, strangers)
    }
}
