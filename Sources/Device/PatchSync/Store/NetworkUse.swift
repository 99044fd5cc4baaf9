import PatchFormat
package import PatchFetch

/// How a device may use its network.
package struct NetworkUse: Equatable, Sendable {
    package static let most = 1_000_000_000_000

    /// Whether bytes cost something: then only what is mandatory comes, and what fits into the allowance.
    package var isMetered = false
    /// Bytes that a sync may fetch of what is not mandatory, while metered.
    package var allowance = 0
    /// The most bytes a second; nil for as fast as they come.
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

    /// The allowance that holds now; nil where bytes cost nothing.
    package var meteredAllowance: Int? { isMetered ? allowance : nil }
}

extension Deadlines {
    /// At the device's own rate, unless another is asked for.
    package func using(_ network: NetworkUse) -> Deadlines {
        var deadlines = self
        deadlines.rate = rate ?? network.rate
        return deadlines
    }
}
