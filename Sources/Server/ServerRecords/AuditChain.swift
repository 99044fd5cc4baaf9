import PatchFormat

/// Verifies an audit log: takes its entries in order, and names each fault.
///
/// Pure, and needs the entries alone: an exported log is judged like the server's own. Entries cut off at the end, or
/// rewritten from some entry on, show only with a later hash that was written down elsewhere.
package struct AuditChain: Sendable {
    package enum Fault: Equatable, Sendable {
        /// The row holds no entry.
        case unreadable(row: Int, rule: String)
        /// The entry's hash does not match its content.
        case edited(row: Int, number: Int)
        /// No entry has these numbers.
        case removed(ClosedRange<Int>)
        /// A second entry of this number; its neighbours know the other one.
        case added(row: Int, number: Int)
        /// The entry comes after one with a higher number.
        case misplaced(row: Int, number: Int, after: Int)
        /// The entry's hash matches its content, but not its neighbours: it was rewritten, hash and all.
        case exchanged(row: Int, number: Int)
        /// The log lacks the entry whose hash was written down.
        case withoutHead(String)
    }

    /// The fields of an entry that the others are judged by.
    struct Link: Equatable {
        let row: Int
        let number: Int
        /// Nil when it is no hash.
        let hash: SHA256Digest?
        let previous: SHA256Digest?
        let isEdited: Bool
    }

    /// The faults that can be found; complete after ``finish()``.
    package private(set) var faults: [Fault] = []
    /// Of all entries, faulty ones included.
    package private(set) var count = 0
    /// Of the entry with the highest number; 64 zeros for an empty log.
    package private(set) var head = AuditEntry.noPrevious
    private let awaited: String?
    private var links: [Link] = []
    private var rows = 0

    /// - Parameter head: a hash written down earlier, which must be in the log.
    package init(mustHold head: String? = nil) {
        awaited = head
    }

    /// Takes the next row, which is this entry.
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

    /// Takes the next row, which is no entry.
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
