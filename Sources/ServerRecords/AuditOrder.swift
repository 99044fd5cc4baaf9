import PatchFormat

/// What the numbers and hashes of a log's entries say of one another.
///
/// Each number has one entry. Where several claim it, it is the one that says what its hash says and that its neighbours
/// name.
struct AuditOrder {
    typealias Link = AuditChain.Link

    /// By number: the entry that has it.
    private let places: [Int: Link]
    private let added: [Link]
    private let rows: [Link]
    private let lastNumber: Int

    /// - Parameter rows: as they stand in the log.
    init(_ rows: [Link]) {
        self.rows = rows
        let claims = Dictionary(grouping: rows, by: \.number)
        let intact = rows.filter { !$0.isEdited }.map(\.number).max() ?? 0
        var places: [Int: Link] = [:]
        var added: [Link] = []
        for (number, claimants) in claims {
            // An edited number is anybody's: it leaves a gap where it was.
            let candidates = claimants.filter { !$0.isEdited || number <= intact + 1 }
            let place = candidates.max { Self.rank($0, claims) < Self.rank($1, claims) }
            places[number] = place
            if let place { added += claimants.filter { $0 != place } }
        }
        self.places = places
        self.added = added
        lastNumber = places.keys.max() ?? 0
    }

    /// How much speaks for an entry; of two alike the first is the one.
    private static func rank(_ link: Link, _ claims: [Int: [Link]]) -> (Int, Int) {
        let isNamed = claims[link.number + 1]?.contains { $0.previous == link.hash } ?? false
        let isBound = claims[link.number - 1]?.contains { $0.hash == link.previous } ?? (link.number == 1)
        return ((link.isEdited ? 0 : 4) + (isNamed ? 2 : 0) + (isBound ? 1 : 0), -link.row)
    }

    var last: Link? { places[lastNumber] }

    /// Whether an entry that is what was written has this hash.
    func holds(_ hash: String) -> Bool {
        hash == AuditEntry.noPrevious || places.values.contains { !$0.isEdited && $0.hash?.hex == hash }
    }

    /// In the order in which the entries stand, then what is not there.
    var faults: [AuditChain.Fault] {
        let exchanged = exchanged
        var faults: [AuditChain.Fault] = []
        var highest = 0
        for link in rows {
            if added.contains(link) {
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

    /// Entries that a neighbour does not know: the one before a broken link, for the next one still has the hash that it
    /// had; or the one behind, where the link after that is broken too.
    private var exchanged: Set<Int> {
        var found: Set<Int> = []
        var number = 0
        while number < lastNumber {
            defer { number += 1 }
            guard isBroken(after: number) else { continue }
            let isNext = number == 0 || (number + 1 < lastNumber && isBroken(after: number + 1))
            found.insert(isNext ? number + 1 : number)
            if isNext { number += 1 }
        }
        return found
    }

    /// Between two entries that both say what their hashes say.
    private func isBroken(after number: Int) -> Bool {
        guard let next = places[number + 1], !next.isEdited else { return false }
        if number == 0 { return next.previous != SHA256Digest(hex: AuditEntry.noPrevious) }
        guard let link = places[number], !link.isEdited else { return false }
        return link.hash != next.previous
    }
}
