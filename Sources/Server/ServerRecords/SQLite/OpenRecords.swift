import Glibc
import Synchronization

/// The records that this process has open.
///
/// A program ends in many places, and tasks may still hold records there. `exit` closes them all, so that a copy of the file
/// alone has every entry.
enum OpenRecords {
    private static let open = Mutex<[ObjectIdentifier: [SQLiteLane]]>([:])
    private static let atExit: Void = { _ = atexit { OpenRecords.close() } }()

    /// - Parameter lanes: in the order in which they close.
    static func add(_ lanes: [SQLiteLane], of records: SQLiteRecords) {
        atExit
        open.withLock { $0[ObjectIdentifier(records)] = lanes }
    }

    static func remove(_ records: SQLiteRecords) {
        open.withLock { $0[ObjectIdentifier(records)] = nil }
    }

    /// Waits for the work that was begun.
    ///
    /// Records that close at the same time are waited for, too.
    private static func close() {
        for lane in open.withLock({ $0.values.flatMap(\.self) }) { lane.close() }
    }
}
