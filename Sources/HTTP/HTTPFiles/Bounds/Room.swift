/// The places of a server's connections: who gets one, and who makes room.
///
/// Waiting connections stand in a line: between two requests, without a whole head, with a body still to come. Those
/// that have shown no right, the strangers, come before those that have. When every place is taken, a newcomer gets the
/// place of the connection that has waited longest, first of a group that has more than its share. While room is short,
/// a group that has its share gets no more: its newcomer gets the place of the group's own connection that has waited
/// longest, or none. A connection that is being answered never goes, and no group gets the reserved places, whatever
/// right it has shown.
///
/// A value. Every change takes the same time, however many connections there are; except for a newcomer to a full
/// server, which looks at the groups above their share, fewer than 64.
/// the groups that have more than their share, and those are fewer than 64.
struct Room {
    /// One connection's place; a change of a place that another connection has by now is ignored.
    struct Place: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let turn: Int

        /// No connection's place.
        static let none = Place(slot: -1, turn: 0)
    }

    enum Activity: Equatable, Sendable {
        case idle
        /// Being answered, or about to be: nothing is awaited from the client.
        case busy
        /// The rest of its request's body is to come; no work was done for it.
        case receiving
        /// The rest of its request's body is to come, while it is being worked on.
        case uploading
        /// It gets its answer; more of the body may come.
        case answering
        /// Its answer is a stream without an end: events.
        case endless
        case tunnel
    }

    enum Entry: Equatable, Sendable {
        /// - leaving: the connection that made room, and its group.
        case entered(Place, leaving: Place?, ClientGroup?)
        case refused
    }

    private struct Slot {
        var turn = 0
        var isTaken = false
        var activity = Activity.idle
        var group: Int?
        /// The client whose request a proxy's connection carries.
        var guest: Int?
        /// The group that the tunnel is counted for.
        var tunnelGroup: Int?
        var isKnown = false
        var isInLine = false
        /// The time of joining the line, as a count.
        var since = 0
    }

    private struct Group {
        var name = ClientGroup.boundless
        var count = 0
        /// Of these, connections that have shown no right, and requests through proxies.
        var strangers = 0
        var tunnels = 0
        var line = Line()
    }

    let rule: RoomRule
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var groups: [Group] = []
    private var freeGroups: [Int] = []
    private var groupNumbers: [ClientGroup: Int] = [:]
    private var crowded: Set<Int> = []
    private var strangers = Line()
    private var known = Line()
    private var links = LineLinks()
    private var groupLinks = LineLinks()
    private var clock = 0
    private(set) var count = 0
    private(set) var tunnels = 0

    init(_ rule: RoomRule) {
        self.rule = rule
    }

    var isShort: Bool { count >= rule.limit - rule.reserve }

    /// All places with their activities.
    var places: [(place: Place, activity: Activity)] {
        slots.indices.filter { slots[$0].isTaken }.map { (Place(slot: $0, turn: slots[$0].turn), slots[$0].activity) }
    }

    // MARK: - Coming and going

    mutating func enter(_ name: ClientGroup) -> Entry {
        let group = groupNumber(of: name)
        if let group, isBounded(group) {
            guard let own = groups[group].line.first else { return refused(group) }
            return entered(group, insteadOf: own)
        }
        if count < rule.limit { return entered(group, insteadOf: nil) }
        guard let oldest = oldestOfCrowded ?? strangers.first ?? known.first else { return refused(group) }
        return entered(group, insteadOf: oldest)
    }

    mutating func leave(_ place: Place) {
        guard holds(place) else { return }
        let slot = place.slot
        leaveLine(slot)
        if slots[slot].activity == .tunnel { endTunnel(of: slot) }
        endRequest(of: slot)
        if let group = slots[slot].group {
            groups[group].count -= 1
            if !slots[slot].isKnown { addStrangers(-1, to: group) }
            forgetIfEmpty(group)
        }
        slots[slot] = Slot(turn: slots[slot].turn + 1)
        freeSlots.append(slot)
        count -= 1
    }

    func holds(_ place: Place) -> Bool {
        slots.indices.contains(place.slot) && slots[place.slot].turn == place.turn && slots[place.slot].isTaken
    }

    // MARK: - What a place does

    func activity(of place: Place) -> Activity? { holds(place) ? slots[place.slot].activity : nil }

    /// - Parameter isKnown: whether it has shown its right by now.
    /// - Returns: false when the place is another's, or there are too many tunnels, in all or of its group.
    mutating func set(_ place: Place, _ activity: Activity, isKnown: Bool) -> Bool {
        guard holds(place) else { return false }
        let slot = place.slot
        switch (slots[slot].activity == .tunnel, activity == .tunnel) {
        case (false, true):
            guard beginTunnel(of: slot) else { return false }
        case (true, false): endTunnel(of: slot)
        case (true, true), (false, false): break
        }
        if isKnown != slots[slot].isKnown { recognise(slot, isKnown) }
        slots[slot].activity = activity
        switch activity {
        case .idle:
            endRequest(of: slot)
            joinLine(slot)
        case .receiving, .uploading:
            // A client that has shown its right may wait without a place in line.
            if slots[slot].isKnown { leaveLine(slot) } else { joinLine(slot) }
        case .busy, .answering, .endless, .tunnel:
            leaveLine(slot)
        }
        return true
    }

    /// A proxy asks on behalf of a client.
    ///
    /// - Returns: false when that client's group has its share already.
    mutating func ask(_ place: Place, for name: ClientGroup) -> Bool {
        guard holds(place), let group = groupNumber(of: name) else { return true }
        guard !isBounded(group) else {
            forgetIfEmpty(group)
            return false
        }
        endRequest(of: place.slot)
        slots[place.slot].guest = group
        groups[group].count += 1
        addStrangers(1, to: group)
        return true
    }

    private mutating func beginTunnel(of slot: Int) -> Bool {
        let (tunnelRule, group) = (rule.tunnelRule, slots[slot].guest ?? slots[slot].group)
        guard tunnels < tunnelRule.limit else { return false }
        if let group {
            let isShort = tunnels >= tunnelRule.limit - tunnelRule.reserve
            guard !isShort || groups[group].tunnels < tunnelRule.share else { return false }
            groups[group].tunnels += 1
        }
        slots[slot].tunnelGroup = group
        tunnels += 1
        return true
    }

    private mutating func endTunnel(of slot: Int) {
        tunnels -= 1
        if let group = slots[slot].tunnelGroup { groups[group].tunnels -= 1 }
        slots[slot].tunnelGroup = nil
    }

    private mutating func endRequest(of slot: Int) {
        guard let group = slots[slot].guest else { return }
        slots[slot].guest = nil
        groups[group].count -= 1
        addStrangers(-1, to: group)
        forgetIfEmpty(group)
    }

    /// A proxy's next request may come from a stranger again.
    private mutating func recognise(_ slot: Int, _ isKnown: Bool) {
        leaveLine(slot)
        slots[slot].isKnown = isKnown
        if let group = slots[slot].group { addStrangers(isKnown ? -1 : 1, to: group) }
    }

    // MARK: - Places

    private func isBounded(_ group: Int) -> Bool {
        if case .user = groups[group].name, let bound = rule.strangers { return groups[group].strangers >= bound }
        return isShort
            && (groups[group].strangers >= rule.share
                || groups[group].count - groups[group].strangers >= rule.limit - rule.reserve)
    }

    private var oldestOfCrowded: Int? {
        crowded.compactMap { groups[$0].line.first }.min { slots[$0].since < slots[$1].since }
    }

    private mutating func refused(_ group: Int?) -> Entry {
        if let group { forgetIfEmpty(group) }
        return .refused
    }

    private mutating func entered(_ group: Int?, insteadOf oldest: Int?) -> Entry {
        // Counted first, so that the group stays when its only other place is given up.
        if let group {
            groups[group].count += 1
            addStrangers(1, to: group)
        }
        let leaving = oldest.map { Place(slot: $0, turn: slots[$0].turn) }
        let whose = oldest.map { slots[$0].group.map { groups[$0].name } ?? .boundless }
        if let leaving { leave(leaving) }
        let slot = freeSlots.popLast() ?? newSlot()
        slots[slot].isTaken = true
        slots[slot].group = group
        count += 1
        joinLine(slot)
        return .entered(Place(slot: slot, turn: slots[slot].turn), leaving: leaving, whose)
    }

    private mutating func newSlot() -> Int {
        slots.append(Slot())
        links.grow()
        groupLinks.grow()
        return slots.count - 1
    }

    // MARK: - Lines

    /// Joins at the end, unless it is in the line already: a client that drips does not become younger by it.
    private mutating func joinLine(_ slot: Int) {
        guard !slots[slot].isInLine else { return }
        slots[slot].isInLine = true
        clock += 1
        slots[slot].since = clock
        guard !slots[slot].isKnown else { return known.append(slot, &links) }
        strangers.append(slot, &links)
        if let group = slots[slot].group { groups[group].line.append(slot, &groupLinks) }
    }

    private mutating func leaveLine(_ slot: Int) {
        guard slots[slot].isInLine else { return }
        slots[slot].isInLine = false
        guard !slots[slot].isKnown else { return known.remove(slot, &links) }
        strangers.remove(slot, &links)
        if let group = slots[slot].group { groups[group].line.remove(slot, &groupLinks) }
    }

    // MARK: - Groups

    private mutating func groupNumber(of name: ClientGroup) -> Int? {
        guard name != .boundless else { return nil }
        if let number = groupNumbers[name] { return number }
        let number = freeGroups.popLast() ?? groups.count
        if number == groups.count { groups.append(Group()) }
        groups[number] = Group(name: name)
        groupNumbers[name] = number
        return number
    }

    private mutating func forgetIfEmpty(_ group: Int) {
        guard groups[group].count == 0, groupNumbers.removeValue(forKey: groups[group].name) != nil else { return }
        freeGroups.append(group)
    }

    private mutating func addStrangers(_ number: Int, to group: Int) {
        groups[group].strangers += number
        if groups[group].strangers > rule.share { crowded.insert(group) } else { crowded.remove(group) }
    }
}
