import Glibc
import Synchronization

/// The records that this process has open.
///
/// A program can end while tasks still use records. `exit` closes all of them, so that a copy of the file alone contains every
/// entry.
enum OpenRecords {
    private static let open = Mutex<[ObjectIdentifier: [SQLiteLane]]>([:])
    private static let atExit: Void = { _ = atexit { OpenRecords.close() } }()

    /// - Parameter lanes: The lanes in the order in which they are closed.
    static func add(_ lanes: [SQLiteLane], of records: SQLiteRecords) {
        atExit
        open.withLock { $0[ObjectIdentifier(records)] = lanes }
    }

    static func remove(_ records: SQLiteRecords) {
        open.withLock { $0[ObjectIdentifier(records)] = nil }
    }

    /// Waits for the work that was started.
    ///
    /// Also waits for records that are being closed at the same time.
    private static func close() {
        for lane in open.withLock({ $0.values.flatMap(\.self) }) { lane.close() }
    }
}
