import PatchFormat

/// Verifies the entries of an audit log in order and reports each fault.
///
/// Only the entries are needed, so an exported log is verified like the server's own. Entries that were cut off at the end, or
/// rewritten from some entry on, are only detected with a later hash that was recorded elsewhere.
package struct AuditChain: Sendable {
    package enum Fault: Equatable, Sendable {
        /// The row does not contain an entry.
        case unreadable(row: Int, rule: String)
        /// The entry's hash does not match its content.
        case edited(row: Int, number: Int)
        /// The entries with these numbers are missing.
        case removed(ClosedRange<Int>)
        /// A second entry has this number. Its neighbours refer to the other one.
        case added(row: Int, number: Int)
        /// The entry follows one with a higher number.
        case misplaced(row: Int, number: Int, after: Int)
        /// The entry's hash matches its content, but not its neighbours: content and hash were both rewritten.
        case exchanged(row: Int, number: Int)
        /// The log lacks the entry with the recorded hash.
        case withoutHead(String)
    }

    /// The fields of an entry that are used to verify others.
    struct Link: Equatable {
        let row: Int
        let number: Int
        /// Nil if the field is not a hash.
        let hash: SHA256Digest?
        let previous: SHA256Digest?
        let isEdited: Bool
    }

    /// The faults found so far.
    ///
    /// Complete after ``finish()``.
    package private(set) var faults: [Fault] = []
    /// The number of entries, including faulty ones.
    package private(set) var count = 0
    /// The hash of the entry with the highest number, or 64 zeros for an empty log.
    package private(set) var head = AuditEntry.noPrevious
    private let awaited: String?
    private var links: [Link] = []
    private var rows = 0

    /// - Parameter head: A hash that was recorded earlier and must be in the log.
    package init(mustHold head: String? = nil) {
        awaited = head
    }

    /// Adds the next row, which contains this entry.
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

    /// Adds the next row, which does not contain an entry.
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
