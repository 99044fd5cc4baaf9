import PatchFormat
package import PatchFetch

/// How a device may use its network.
package struct NetworkUse: Equatable, Sendable {
    package static let most = 1_000_000_000_000

    /// Whether the network is metered.
    ///
    /// Only mandatory versions, and others within the allowance, are then downloaded.
    package var isMetered = false
    /// The bytes that a sync may spend on versions that are not mandatory while the network is metered.
    package var allowance = 0
    /// The limit in bytes per second, or nil for no limit.
    package var rate: Int?

    package init() {}

    init(_ fields: Fields) throws(FormatError) {
        isMetered = try fields.bool("metered", default: false)
        allowance = fields.has("allowance") ? try fields.integer("allowance", in: 0...Self.most) : 0
        rate = fields.has("limitRate") ? try fields.integer("limitRate", in: Deadlines.leastRate...Self.most) : nil
    }

    var members: [(String, JSON?)] {
        [
            ("metered", isMetered ? .bool(true) : nil), ("allowance", allowance == 0 ? nil : .integer(allowance)),
            ("limitRate", rate.map { .integer($0) }),
        ]
    }

    /// The active allowance, or nil if the network is unmetered.
    package var meteredAllowance: Int? { isMetered ? allowance : nil }
}

extension Deadlines {
    /// Applies the device's own rate, unless the caller set another one.
    package func using(_ network: NetworkUse) -> Deadlines {
        var deadlines = self
        deadlines.rate = rate ?? network.rate
        return deadlines
    }
}
