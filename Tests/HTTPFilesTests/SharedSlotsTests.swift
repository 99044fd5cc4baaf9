import Testing

@testable import HTTPFiles

@Suite("Slots that clients share")
struct SharedSlotsTests {
    /// 64 slots: 16 in reserve, shares of 4; half of them for endless answers, of which 8 are in reserve.
    private let pool = Pool()
    private let now = ContinuousClock.now

    @Test func `leave a reserve to clients with less than their share`() {
        #expect(pool.takeAll("a", at: now).count == 48)
        for client in ["b", "c", "d", "e"] { #expect(pool.takeAll(client, at: now).count == 4) }
        #expect(pool.slots.count == 64)
        #expect(pool.take("f", at: now) == nil)
    }

    @Test func `are free again once, however often they are given back`() throws {
        let taken = pool.takeAll("a", at: now)
        for _ in 0..<3 { pool.release(taken[0]) }
        #expect(pool.slots.count == 47)
        let again = pool.takeAll("a", at: now)
        #expect(again.count == 1)
        for slot in taken + again { pool.release(slot) }
        #expect(pool.slots.count == 0)
    }

    @Test func `are for endless answers by half at most, and these are shared out too`() {
        #expect((0..<40).count { _ in pool.open("a", at: now) } == 24)
        #expect((0..<40).count { _ in pool.open("b", at: now) } == 4)
        #expect((0..<40).count { _ in pool.open("c", at: now) } == 4)
        #expect(!pool.open("d", at: now))
        // The other half is for other answers.
        #expect(pool.slots.endless == 32 && pool.slots.lasting == 32)
        #expect(pool.take("d", at: now) != nil)
    }

    @Test func `are short when lasting requests use half of them`() throws {
        for _ in 0..<32 { _ = try #require(pool.take("a", at: now)) }
        let early = try #require(pool.take("a", at: now + .milliseconds(9_999)))
        #expect(pool.slots.lasting == 0)
        let later = now + .seconds(10)
        #expect(pool.take("a", at: later) == nil, "long polls are known by their time")
        #expect(pool.slots.lasting == 32)
        #expect(pool.takeAll("b", at: later).count == 4)
        pool.release(early)
        #expect(pool.slots.lasting == 32)
    }

    @Test func `count a request as lasting once, also when its answer turns out to be endless`() throws {
        let slot = try #require(pool.take("a", at: now))
        let other = try #require(pool.take("a", at: now + .seconds(11)))
        #expect(pool.slots.lasting == 1)
        for _ in 0..<2 { #expect(pool.becomesEndless(slot)) }
        #expect(pool.slots.lasting == 1 && pool.slots.endless == 1)
        for slot in [slot, other] { pool.release(slot) }
        #expect(pool.slots.lasting == 0 && pool.slots.endless == 0 && pool.slots.count == 0)
    }

    @Test func `that were taken for a stream are ordinary ones when the answer is none`() throws {
        let slot = try #require(pool.take("a", at: now))
        #expect(pool.becomesEndless(slot))
        #expect((0..<40).count { _ in pool.open("a", at: now) } == 23)
        for _ in 0..<2 { pool.isNotEndless(slot) }
        #expect(pool.slots.endless == 23 && pool.open("a", at: now) && !pool.open("a", at: now))
        pool.release(slot)
        #expect(pool.slots.endless == 24 && pool.slots.count == 24)
    }

    @Test func `find lasting requests behind many that have ended`() throws {
        let first = try #require(pool.take("a", at: now))
        for _ in 0..<1_000 { pool.release(try #require(pool.take("a", at: now))) }
        _ = try #require(pool.take("b", at: now))
        pool.release(first)
        for _ in 0..<20 { pool.release(try #require(pool.take("c", at: now + .seconds(20)))) }
        #expect(pool.slots.lasting == 1)
    }
}

/// Slots that expectations can change.
private final class Pool {
    private(set) var slots = SharedSlots<String>(CapacityRule(limit: 64))

    func take(_ client: String, at now: ContinuousClock.Instant) -> SharedSlots<String>.Slot? {
        slots.take(for: client, at: now)
    }

    /// Until it is refused.
    func takeAll(_ client: String, at now: ContinuousClock.Instant) -> [SharedSlots<String>.Slot] {
        var taken: [SharedSlots<String>.Slot] = []
        while let slot = slots.take(for: client, at: now) { taken.append(slot) }
        return taken
    }

    func release(_ slot: SharedSlots<String>.Slot) { slots.release(slot) }

    func becomesEndless(_ slot: SharedSlots<String>.Slot) -> Bool { slots.becomesEndless(slot) }

    func isNotEndless(_ slot: SharedSlots<String>.Slot) { slots.isNotEndless(slot) }

    /// A refused one gives its slot back.
    func open(_ client: String, at now: ContinuousClock.Instant) -> Bool {
        guard let slot = slots.take(for: client, at: now) else { return false }
        if slots.becomesEndless(slot) { return true }
        slots.release(slot)
        return false
    }
}
