import Testing

@testable import HTTPFiles

@Suite("The room of a server")
struct RoomTests {
    private func address(_ text: String) -> ClientGroup { .address(ClientName(text)) }
    private var stranger: ClientGroup { address("10.0.0.1") }
    private var device: ClientGroup { address("10.0.0.2") }

    @Test func `is for everybody while there is some, however many have one address`() throws {
        let room = Entrance(CapacityRule(limit: 1024))
        for _ in 0..<768 { #expect(try room.enter(stranger).leaving == nil) }
        #expect(room.count == 768)
    }

    @Test func `is made by the one who has waited longest, not by the newcomer`() throws {
        let room = Entrance(CapacityRule(limit: 4))
        let places = try (0..<4).map { try room.enter(address("10.0.0.\($0)")).place }
        // The first is answered, and waits anew from then on.
        #expect(room.set(places[0], .busy, isKnown: false) && room.set(places[0], .idle, isKnown: false))
        for expected in [1, 2, 3, 0] { #expect(try room.enter(device).leaving == places[expected]) }
        #expect(room.count == 4)
    }

    @Test func `is not kept by who drips: no byte makes anybody younger`() throws {
        let room = Entrance(CapacityRule(limit: 2))
        let slow = try room.enter(address("10.0.0.1")).place
        _ = try room.enter(address("10.0.0.2"))
        #expect(room.set(slow, .receiving, isKnown: false) && room.set(slow, .receiving, isKnown: false))
        #expect(try room.enter(device).leaving == slow)
    }

    @Test(arguments: [ConnectionLimiter.Activity.busy, .answering, .endless, .tunnel])
    func `is not taken from whoever is being answered`(activity: ConnectionLimiter.Activity) throws {
        let room = Entrance(CapacityRule(limit: 2))
        let (first, second) = (try room.enter(stranger).place, try room.enter(stranger).place)
        #expect(room.set(first, activity, isKnown: false))
        #expect(try room.enter(device).leaving == second)
        let last = try #require(room.places.first { $0.activity == .idle }?.place)
        #expect(room.set(last, .busy, isKnown: false))
        #expect(room.refuses(device))
        #expect(room.holds(first))
    }

    @Test(arguments: [ConnectionLimiter.Activity.receiving, .uploading])
    func `is not taken from an upload of somebody with a right, but from one of somebody without`(
        activity: ConnectionLimiter.Activity
    ) throws {
        for isKnown in [false, true] {
            let room = Entrance(CapacityRule(limit: 1))
            let place = try room.enter(stranger).place
            #expect(room.set(place, .busy, isKnown: isKnown) && room.set(place, activity, isKnown: isKnown))
            #expect((room.refuses(device)) == isKnown)
        }
    }

    @Test func `has a reserve that nobody gets alone, whatever right they have shown`() throws {
        let room = Entrance(CapacityRule(limit: 64))
        for _ in 0..<48 {
            let place = try room.enter(stranger).place
            #expect(room.set(place, .uploading, isKnown: true))
        }
        #expect(room.refuses(stranger))
        for _ in 0..<4 { #expect(try room.enter(device).leaving == nil) }
        #expect(room.count == 52)
    }

    @Test func `is made by strangers first, by whoever has shown a right last`() throws {
        let room = Entrance(CapacityRule(limit: 3))
        let known = try room.enter(.boundless).place
        #expect(room.set(known, .busy, isKnown: true) && room.set(known, .idle, isKnown: true))
        let strangers = try (0..<2).map { _ in try room.enter(.boundless).place }
        #expect(try room.enter(.boundless).leaving == strangers[0])
        #expect(try room.enter(.boundless).leaving == strangers[1])
        for place in room.places.map(\.place) where place != known { #expect(room.set(place, .busy, isKnown: false)) }
        #expect(try room.enter(.boundless).leaving == known)
    }

    @Test func `that is short is shared out: who floods it displaces their own connections alone`() throws {
        let room = Entrance(CapacityRule(limit: 64))
        let waiting = try (0..<8).map { try room.enter(address("10.1.0.\($0)")).place }
        for _ in 0..<10_000 { _ = try room.enter(stranger) }
        #expect(waiting.allSatisfy(room.holds) && room.count == 48)
        // Even while nothing of theirs can go.
        for (place, _) in room.places where !waiting.contains(place) {
            #expect(room.set(place, .busy, isKnown: false))
        }
        #expect(room.refuses(stranger))
        for _ in 0..<16 { #expect(try room.enter(device).leaving.map(room.holds) != true) }
    }

    @Test func `is made by a group that has more than its share, before any other`() throws {
        let room = Entrance(CapacityRule(limit: 64))
        let oldest = try room.enter(device).place
        let crowd = try (0..<47).map { _ in try room.enter(stranger).place }
        // The rest are one connection each.
        for number in 0..<16 { _ = try room.enter(address("10.2.0.\(number)")) }
        #expect(room.count == 64)
        #expect(try room.enter(address("10.3.0.1")).leaving == crowd[0])
        #expect(room.holds(oldest))
    }

    @Test func `has a bound for the strangers of each other user, and none for their connections with a right`() throws
    {
        let room = Entrance(CapacityRule(limit: 1024, strangers: 64))
        let places = try (0..<64).map { _ in try room.enter(.user(65_534)).place }
        #expect(try room.enter(.user(65_534)).leaving == places[0])
        #expect(room.count == 64)
        for (place, _) in room.places { #expect(room.set(place, .busy, isKnown: true)) }
        #expect(try room.enter(.user(65_534)).leaving == nil)
        #expect(try room.enter(.user(1_000)).leaving == nil)
        for _ in 0..<900 { #expect(try room.enter(.boundless).leaving == nil) }
    }

    @Test func `counts a proxy's requests by whom they are for, while they last`() throws {
        let room = Entrance(CapacityRule(limit: 16))
        let places = try (0..<12).map { _ in try room.enter(.boundless).place }
        #expect(room.isShort)
        let asked = places.map { room.ask($0, for: stranger) }
        #expect(asked == Array(repeating: true, count: 4) + Array(repeating: false, count: 8))
        #expect(room.ask(places[11], for: device))
        #expect(room.set(places[0], .idle, isKnown: false))
        #expect(room.ask(places[10], for: stranger), "one has its answer")
        room.leave(places[1])
        #expect(room.ask(places[9], for: stranger), "one is gone")
    }

    @Test func `has a bound for tunnels, which have no end`() throws {
        let room = Entrance(CapacityRule(limit: 8))
        let places = try (0..<4).map { _ in try room.enter(.boundless).place }
        #expect(places.map { room.set($0, .tunnel, isKnown: true) } == [true, true, false, false])
        #expect(room.set(places[0], .idle, isKnown: true) && room.set(places[2], .tunnel, isKnown: true))
        room.leave(places[1])
        #expect(room.set(places[3], .tunnel, isKnown: true) && room.tunnels == 2)
    }

    @Test func `shares out tunnels, so that one client cannot use all of them`() throws {
        let room = Entrance(CapacityRule(limit: 64))
        let many = try (0..<20).map { _ in try room.enter(stranger).place }
        #expect(many.count { room.set($0, .tunnel, isKnown: false) } == 12)
        let others = try (0..<5).map { _ in try room.enter(device).place }
        #expect(others.map { room.set($0, .tunnel, isKnown: true) } == [true, true, true, true, false])
        room.leave(others[0])
        #expect(room.set(others[1], .idle, isKnown: true) && room.tunnels == 14)
        #expect(room.set(others[4], .tunnel, isKnown: true))
        // A proxy's connection counts for the client that it asks for.
        let proxy = try room.enter(.boundless).place
        #expect(room.ask(proxy, for: stranger) && !room.set(proxy, .tunnel, isKnown: false))
    }

    @Test func `hears nothing of a place from whoever had it before`() throws {
        let room = Entrance(CapacityRule(limit: 1))
        let old = try room.enter(stranger).place
        let new = try room.enter(device).place
        #expect(!room.holds(old) && !room.set(old, .busy, isKnown: true))
        room.leave(old)
        #expect(room.holds(new) && room.count == 1)
        #expect(try room.enter(stranger).leaving == new)
    }

    /// Many turns of chance, and after each what must hold of every room.
    @Test(arguments: 1...8)
    func `is never overfull, and loses nobody who is answered, whatever comes in whatever order`(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let room = Entrance(CapacityRule(limit: 24, strangers: 5))
        var living: [ConnectionLimiter.Place: ConnectionLimiter.Activity] = [:]
        let activities: [ConnectionLimiter.Activity] = [
            .idle, .busy, .receiving, .uploading, .answering, .endless, .tunnel,
        ]
        let groups = [.boundless, .user(7)] + (0..<6).map { address("10.0.0.\($0)") }
        for _ in 0..<500 {
            let place = room.places.map(\.place).randomElement(using: &dice)
            switch Int.random(in: 0..<10, using: &dice) {
            case 0..<5:
                guard let group = groups.randomElement(using: &dice), !room.refuses(group) else { break }
                let (new, leaving) = try room.enter(group)
                if let leaving {
                    let activity = living.removeValue(forKey: leaving) ?? .busy
                    #expect(activity == .idle || activity == .receiving || activity == .uploading)
                }
                living[new] = .idle
            case 5:
                guard let place else { break }
                room.leave(place)
                living[place] = nil
            case 6:
                guard let place else { break }
                _ = room.ask(place, for: groups.randomElement(using: &dice) ?? .boundless)
            default:
                guard let place, let activity = activities.randomElement(using: &dice) else { break }
                if room.set(place, activity, isKnown: Bool.random(using: &dice)) { living[place] = activity }
            }
            #expect(room.count == living.count && room.count <= 24)
            #expect(Dictionary(uniqueKeysWithValues: room.places.map { ($0.place, $0.activity) }) == living)
        }
        for place in living.keys { room.leave(place) }
        #expect(room.count == 0 && room.tunnels == 0)
    }
}

/// A room with somebody at its door, for expectations that change it.
private final class Entrance {
    private struct NoRoom: Error {}

    private var room: ConnectionLimiter

    init(_ rule: CapacityRule) {
        room = ConnectionLimiter(rule)
    }

    var count: Int { room.count }
    var tunnels: Int { room.tunnels }
    var isShort: Bool { room.isShort }
    var places: [(place: ConnectionLimiter.Place, activity: ConnectionLimiter.Activity)] { room.places }

    func enter(_ group: ClientGroup) throws -> (place: ConnectionLimiter.Place, leaving: ConnectionLimiter.Place?) {
        guard case .entered(let place, let leaving, _) = room.enter(group) else { throw NoRoom() }
        return (place, leaving)
    }

    /// Whether it would be; nothing is changed.
    func refuses(_ group: ClientGroup) -> Bool {
        var other = room
        return other.enter(group) == .refused
    }

    func set(_ place: ConnectionLimiter.Place, _ activity: ConnectionLimiter.Activity, isKnown: Bool) -> Bool {
        room.set(place, activity, isKnown: isKnown)
    }

    func ask(_ place: ConnectionLimiter.Place, for group: ClientGroup) -> Bool { room.ask(place, for: group) }
    func holds(_ place: ConnectionLimiter.Place) -> Bool { room.holds(place) }
    func leave(_ place: ConnectionLimiter.Place) { room.leave(place) }
}

/// A generator whose numbers are the same each time (SplitMix64).
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
