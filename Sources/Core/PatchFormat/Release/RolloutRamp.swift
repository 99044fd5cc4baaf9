/// A schedule of rising rollout shares: `1%,5%,25%,100%` with one step every six hours, for example.
package struct RolloutRamp: Hashable, Sendable {
    package static let stepLimit = 50
    /// The allowed seconds between two steps: a minute to 60 days.
    package static let intervals = 60...5_184_000
    package static let stepsRule = "must be 1 to \(stepLimit) rising shares with commas, such as 1%,5%,25%,100%"
    package static let intervalRule = "must be from 1m to 60d"

    /// Rising shares, in devices of 10,000.
    ///
    /// Contains at least one.
    package let steps: [Int]
    /// Seconds between two steps.
    package let every: Int

    /// Nil unless the shares rise, and steps and interval are within their limits.
    package init?(steps: [Int], every: Int) {
        guard (1...Self.stepLimit).contains(steps.count), Self.intervals.contains(every),
            steps.allSatisfy({ (1...10_000).contains($0) }), zip(steps, steps.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        (self.steps, self.every) = (steps, every)
    }

    /// Parses shares such as `1%,5%,25%,100%`, or returns nil if one of them is not valid.
    package static func steps(_ text: some StringProtocol) -> [Int]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let shares = parts.compactMap { RolloutShare(String($0.filter { $0 != " " }))?.tenThousandths }
        return shares.count == parts.count ? shares : nil
    }

    package var first: Int { steps[0] }
    /// The largest share.
    package var last: Int { steps[steps.count - 1] }

    /// The shares as text: `1%, 5%, 25%, 100%`.
    package var stepsText: String { steps.map { "\(RolloutShare($0))" }.joined(separator: ", ") }

    /// The interval as text: `6h`, `90m`.
    package var everyText: String {
        for (seconds, unit) in [(86_400, "d"), (3_600, "h"), (60, "m")] where every.isMultiple(of: seconds) {
            return "\(every / seconds)\(unit)"
        }
        return "\(every)s"
    }

    package init(_ fields: Fields) throws(FormatError) {
        var steps: [Int] = []
        for value in try fields.array("steps", limit: Self.stepLimit) {
            guard case .integer(let share) = value else { throw fields.broken("steps", Self.stepsRule) }
            steps.append(share)
        }
        let every = try fields.integer("every", in: Self.intervals)
        guard let ramp = RolloutRamp(steps: steps, every: every) else {
            throw fields.broken("steps", Self.stepsRule)
        }
        self = ramp
    }

    package var json: JSON {
        .fields([("steps", .array(steps.map { .integer($0) })), ("every", .integer(every))])
    }
}
