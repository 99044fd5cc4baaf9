/// The number of a server's places, and how they are shared when room is short.
package struct CapacityRule: Equatable, Sendable {
    /// The most connections at a time.
    package let limit: Int
    /// The most connections of each other user that have shown no right.
    ///
    /// If nil, only the share limits them.
    var strangers: Int?

    /// Room is short when at most this many places are free.
    ///
    /// These are reserved for groups below their share.
    package var reserve: Int { limit / 4 }

    /// The most places of one group while room is short.
    package var share: Int { max(4, limit / 64) }

    /// The most tunnels.
    ///
    /// They have a limit because they can last forever.
    var tunnels: Int { max(1, limit / 4) }

    /// The rule for tunnels.
    ///
    /// They are shared like places, so that one address cannot use all of them.
    var tunnelRule: CapacityRule { CapacityRule(limit: tunnels) }

    /// How many refused connections at a time have time to read their answer.
    ///
    /// Beyond these, an answer may be lost.
    var refusals: Int { max(4, limit / 16) }

    package init(limit: Int, strangers: Int? = nil) {
        (self.limit, self.strangers) = (limit, strangers)
    }
}
