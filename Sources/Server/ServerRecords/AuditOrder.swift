import PatchFormat

/// The order of a log's entries, by their numbers and hashes.
///
/// Each number has one entry. If several have the same number, the right one matches its own hash and is referenced by its
/// neighbours.
struct AuditOrder {
    typealias Link = AuditChain.Link

    /// The entry of each number.
    private let places: [Int: Link]
    /// The rows of entries whose number belongs to another entry.
    private let added: Set<Int>
    private let rows: [Link]
    private let lastNumber: Int

    /// - Parameter rows: The entries in the log's order.
    init(_ rows: [Link]) {
        self.rows = rows
        let claims = Dictionary(grouping: rows, by: \.number)
        let intact = rows.filter { !$0.isEdited }.map(\.number).max() ?? 0
        var places: [Int: Link] = [:]
        var added: Set<Int> = []
        let neighbours = Neighbours(rows)
        for (number, claimants) in claims {
            // The number of an edited entry is not trusted, so it counts as missing there.
            let candidates = claimants.filter { !$0.isEdited || number <= intact + 1 }
            let place = candidates.max { neighbours.rank($0) < neighbours.rank($1) }
            places[number] = place
            if let place { added.formUnion(claimants.map(\.row).filter { $0 != place.row }) }
        }
        self.places = places
        self.added = added
        lastNumber = places.keys.max() ?? 0
    }

    var last: Link? { places[lastNumber] }

    /// Whether an unaltered entry has this hash.
    func holds(_ hash: String) -> Bool {
        hash == AuditEntry.noPrevious || places.values.contains { !$0.isEdited && $0.hash?.hex == hash }
    }

    /// The faults, in the order of the entries, then the missing ones.
    var faults: [AuditChain.Fault] {
        let exchanged = exchanged
        var faults: [AuditChain.Fault] = []
        var highest = 0
        for link in rows {
            if added.contains(link.row) {
                faults.append(.added(row: link.row, number: link.number))
                continue
            }
            if link.isEdited { faults.append(.edited(row: link.row, number: link.number)) }
            guard places[link.number] == link else { continue }
            if exchanged.contains(link.number) { faults.append(.exchanged(row: link.row, number: link.number)) }
            if link.number < highest {
                faults.append(.misplaced(row: link.row, number: link.number, after: highest))
            }
            highest = max(highest, link.number)
        }
        return faults + removed.map { .removed($0) }
    }

    private var removed: [ClosedRange<Int>] {
        var gaps: [ClosedRange<Int>] = []
        var next = 1
        for number in places.keys.sorted() {
            if number > next { gaps.append(next...number - 1) }
            next = number + 1
        }
        return gaps
    }

    /// The entries that do not match a neighbour.
    ///
    /// It is the one before a broken link, because the next one still refers to its former hash. If the link after the next one is
    /// broken too, it is the next one.
    private var exchanged: Set<Int> {
        var found: Set<Int> = []
        var passedOver: Int?
        // Claimed numbers can be arbitrary, but a link can only be broken before an existing entry.
        for next in places.keys.sorted() where next != passedOver && isBroken(after: next - 1) {
            let isNext = next == 1 || (next < lastNumber && isBroken(after: next))
            found.insert(isNext ? next : next - 1)
            passedOver = isNext ? next + 1 : nil
        }
        return found
    }

    /// Whether the link between two entries that match their own hashes is broken.
    private func isBroken(after number: Int) -> Bool {
        guard let next = places[number + 1], !next.isEdited else { return false }
        if number == 0 { return next.previous != SHA256Digest(hex: AuditEntry.noPrevious) }
        guard let link = places[number], !link.isEdited else { return false }
        return link.hash != next.previous
    }
}

/// The hashes that entries of each number have and refer to.
private struct Neighbours {
    private struct Name: Hashable {
        let number: Int
        let hash: SHA256Digest?
    }

    private var hashes: Set<Name> = []
    private var named: Set<Name> = []

    init(_ rows: [AuditChain.Link]) {
        for link in rows {
            hashes.insert(Name(number: link.number, hash: link.hash))
            named.insert(Name(number: link.number - 1, hash: link.previous))
        }
    }

    /// The rank of an entry by its evidence.
    ///
    /// Of two equal ones, the first wins.
    func rank(_ link: AuditChain.Link) -> (Int, Int) {
        let isNamed = named.contains(Name(number: link.number, hash: link.hash))
        let isBound = link.number == 1 || hashes.contains(Name(number: link.number - 1, hash: link.previous))
        return ((link.isEdited ? 0 : 4) + (isNamed ? 2 : 0) + (isBound ? 1 : 0), -link.row)
    }
}
