/// The slots of a pool that many clients share, such as the connections to one upstream.
///
/// A slot belongs to one request until that request ends. While slots are short, each client receives at most its share, so
/// the reserve remains for clients that use less. Slots are short when only the reserve is free, and also when lasting
/// requests use half of all slots. Endless answers are limited to half of the slots, with a reserve and shares of their own.
package struct SharedSlots<Client: Hashable & Sendable>: Sendable {
    package struct Slot: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// How long a request runs before it counts as lasting.
    ///
    /// A long poll looks like any other request until then.
    package static var lastingTime: Duration { .seconds(10) }

    private struct Use: Sendable {
        let client: Client
        let since: ContinuousClock.Instant
        var isLasting = false
        var isEndless = false
    }

    private struct Counts: Sendable {
        var all = 0
        var endless = 0
    }

    package let rule: CapacityRule
    package var endlessRule: CapacityRule { CapacityRule(limit: max(1, rule.limit / 2)) }

    private var uses: [Int: Use] = [:]
    private var counts: [Client: Counts] = [:]
    private var nextNumber = 0
    /// All requests below this number have ended or are marked as lasting.
    private var firstRecent = 0
    private(set) var lasting = 0
    private(set) var endless = 0

    package init(_ rule: CapacityRule) {
        self.rule = rule
    }

    package var count: Int { uses.count }

    private var isShort: Bool { count >= rule.limit - rule.reserve || lasting >= endlessRule.limit }

    /// Returns nil if all slots are taken, or if slots are short and the client has its share.
    package mutating func take(for client: Client, at now: ContinuousClock.Instant) -> Slot? {
        markLasting(at: now)
        guard count < rule.limit, !isShort || counts[client]?.all ?? 0 < rule.share else { return nil }
        let slot = Slot(number: nextNumber)
        nextNumber += 1
        uses[slot.number] = Use(client: client, since: now)
        counts[client, default: Counts()].all += 1
        return slot
    }

    /// Marks a request whose answer is endless, such as server-sent events.
    ///
    /// - Returns: false if there are too many endless answers, in all or for this client. The slot remains taken.
    package mutating func becomesEndless(_ slot: Slot) -> Bool {
        guard let use = uses[slot.number], !use.isEndless else { return true }
        let isShort = endless >= endlessRule.limit - endlessRule.reserve
        guard endless < endlessRule.limit,
            !isShort || counts[use.client]?.endless ?? 0 < endlessRule.share
        else { return false }
        endless += 1
        counts[use.client]?.endless += 1
        uses[slot.number]?.isEndless = true
        markLasting(slot.number)
        return true
    }

    /// Marks a request as an ordinary one again, since its answer is not endless.
    ///
    /// It counts as lasting until it ends.
    package mutating func isNotEndless(_ slot: Slot) {
        guard let use = uses[slot.number], use.isEndless else { return }
        endless -= 1
        counts[use.client]?.endless -= 1
        uses[slot.number]?.isEndless = false
    }

    /// Ends a request.
    ///
    /// A second call for the same slot does nothing.
    package mutating func release(_ slot: Slot) {
        guard let use = uses.removeValue(forKey: slot.number) else { return }
        if use.isLasting { lasting -= 1 }
        if use.isEndless { endless -= 1 }
        guard var count = counts[use.client] else { return }
        count.all -= 1
        if use.isEndless { count.endless -= 1 }
        counts[use.client] = count.all == 0 ? nil : count
    }

    // MARK: - Lasting requests

    /// How many requests one call looks at, so that no single caller pays for a long row of ended ones.
    private static var steps: Int { 64 }

    private mutating func markLasting(at now: ContinuousClock.Instant) {
        for _ in 0..<Self.steps where firstRecent < nextNumber {
            if let use = uses[firstRecent] {
                guard use.since.duration(to: now) >= Self.lastingTime else { return }
                markLasting(firstRecent)
            }
            firstRecent += 1
        }
    }

    private mutating func markLasting(_ number: Int) {
        guard uses[number]?.isLasting == false else { return }
        uses[number]?.isLasting = true
        lasting += 1
    }
}
