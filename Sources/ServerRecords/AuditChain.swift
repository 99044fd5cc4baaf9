import PatchFormat

/// Whether an audit log is what was written: takes its entries as they stand, and names each that is not.
///
/// Pure, and needs nothing but the entries: a log that was exported is judged as the server's own is. What was cut off at
/// the end, and what was written anew from some entry on, shows only to whoever wrote a later hash down.
package struct AuditChain: Sendable {
    package enum Fault: Equatable, Sendable {
        /// What stands in this row is no entry.
        case unreadable(row: Int, rule: String)
        /// Its hash is not that of what it says.
        case edited(row: Int, number: Int)
        /// No entry has these numbers.
        case removed(ClosedRange<Int>)
        /// Another entry of its number is the one that those before and behind it know.
        case added(row: Int, number: Int)
        /// It stands behind an entry with a higher number.
        case misplaced(row: Int, number: Int, after: Int)
        /// It says what its hash says, and does not fit those before and behind it: it was written anew, hash and all.
        case exchanged(row: Int, number: Int)
        /// The log does not hold the entry that somebody wrote down.
        case withoutHead(String)
    }

    /// What is needed of an entry to judge the others.
    struct Link: Equatable {
        let row: Int
        let number: Int
        /// Nil for what is no hash.
        let hash: SHA256Digest?
        let previous: SHA256Digest?
        let isEdited: Bool
    }

    /// What is wrong, as far as one can tell; known after ``finish()``.
    package private(set) var faults: [Fault] = []
    /// Of entries, whatever is wrong with them.
    package private(set) var count = 0
    /// Of the entry with the highest number; 64 zeros for an empty log.
    package private(set) var head = AuditEntry.noPrevious
    private let awaited: String?
    private var links: [Link] = []
    private var rows = 0

    /// - Parameter head: a hash that somebody wrote down earlier and that must be in the log.
    package init(mustHold head: String? = nil) {
        awaited = head
    }

    /// The next row is this entry.
    package mutating func take(_ entry: AuditEntry) {
        rows += 1
        count += 1
        links.append(
            Link(
                row: rows,
                number: entry.number,
                hash: SHA256Digest(hex: entry.hash),
                previous: SHA256Digest(hex: entry.previous),
                isEdited: entry.rightHash != entry.hash
            )
        )
    }

    /// The next row is none.
    package mutating func take(unreadable rule: String) {
        rows += 1
        faults.append(.unreadable(row: rows, rule: rule))
    }

    package mutating func finish() {
        let order = AuditOrder(links)
        faults += order.faults
        if let last = order.last?.hash { head = last.hex }
        if let awaited, !order.holds(awaited) { faults.append(.withoutHead(awaited)) }
    }
}
