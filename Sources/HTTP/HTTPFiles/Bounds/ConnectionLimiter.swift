/// Assigns a server's places to connections, and decides which connection is closed when all places are taken.
///
/// Waiting connections are queued: between two requests, with an incomplete head, or with an incomplete body. Connections that have
/// shown no right (strangers) precede those that have. When every place is taken, a new connection replaces the one that has waited
/// longest, first within a group above its share. While room is short, a group that has its share receives no more places: its new
/// connection replaces the group's own connection that has waited longest, or is refused. A connection that is being answered is
/// never closed. No single group can take the reserved places, regardless of the rights it has shown.
///
/// A value. Every change takes constant time, with one exception: a new connection to a full server examines the groups above their
/// share, which are fewer than 64.
struct ConnectionLimiter {
    /// The place of one connection.
    ///
    /// Changes through a place that has been reassigned are ignored.
    struct Place: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let turn: Int

        /// A value that is not the place of any connection.
        static let none = Place(slot: -1, turn: 0)
    }

    enum Activity: Equatable, Sendable {
        case idle
        /// Being answered, or about to be. The client has sent everything.
        case busy
        /// Receiving the rest of a request's body before any work was done for it.
        case receiving
        /// Receiving the rest of a request's body while the request is processed, or after its answer.
        case uploading
        /// Sending the answer. More of the body may arrive.
        case answering
        /// Sending an endless stream, such as server-sent events.
        case endless
        case tunnel
    }

    enum Entry: Equatable, Sendable {
        /// - leaving: The connection that is closed to make room, and its group.
        case entered(Place, leaving: Place?, ClientGroup?)
        case refused
    }

    private struct Slot {
        var turn = 0
        var isTaken = false
        var activity = Activity.idle
        var group: Int?
        /// The client whose request is received through a proxy's connection.
        var proxiedClient: Int?
        /// The group that the tunnel counts for.
        var tunnelGroup: Int?
        var isKnown = false
        var isInLine = false
        /// A counter value that orders the queue by the time of joining.
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

    let rule: CapacityRule
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

    init(_ rule: CapacityRule) {
        self.rule = rule
    }

    var isShort: Bool { count >= rule.limit - rule.reserve }

    /// All taken places with their activities.
    var places: [(place: Place, activity: Activity)] {
        slots.indices.filter { slots[$0].isTaken }.map { (Place(slot: $0, turn: slots[$0].turn), slots[$0].activity) }
    }

    // MARK: - Joining and leaving

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

    // MARK: - Activities

    func activity(of place: Place) -> Activity? { holds(place) ? slots[place.slot].activity : nil }

    /// - Parameter isKnown: Whether the connection has shown its right.
    /// - Returns: False if the place was reassigned, or if there are too many tunnels in all or in its group.
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
            // A client that has shown its right may wait without a place in the queue.
            if slots[slot].isKnown { leaveLine(slot) } else { joinLine(slot) }
        case .busy, .answering, .endless, .tunnel:
            leaveLine(slot)
        }
        return true
    }

    /// Counts a proxy's request for the client it was made for.
    ///
    /// - Returns: False if the client's group already has its share.
    mutating func ask(_ place: Place, for name: ClientGroup) -> Bool {
        guard holds(place), let group = groupNumber(of: name) else { return true }
        guard !isBounded(group) else {
            forgetIfEmpty(group)
            return false
        }
        endRequest(of: place.slot)
        slots[place.slot].proxiedClient = group
        groups[group].count += 1
        addStrangers(1, to: group)
        return true
    }

    private mutating func beginTunnel(of slot: Int) -> Bool {
        let (tunnelRule, group) = (rule.tunnelRule, slots[slot].proxiedClient ?? slots[slot].group)
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
        guard let group = slots[slot].proxiedClient else { return }
        slots[slot].proxiedClient = nil
        groups[group].count -= 1
        addStrangers(-1, to: group)
        forgetIfEmpty(group)
    }

    /// Records whether the connection has shown its right.
    ///
    /// A proxy's connection becomes a stranger's again if its next request is from a client without a right.
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
        // Counted first, so that the group remains when its only other place is freed.
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

    // MARK: - Queues

    /// Appends the slot to its queue, unless it is queued already: a client that sends byte by byte keeps its age.
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
