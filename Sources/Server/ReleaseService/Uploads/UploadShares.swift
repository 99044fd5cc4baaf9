import PatchFormat

/// Divides an app's limited number of unfinished uploads among senders, so that one pipeline cannot block the others.
enum UploadShares {
    struct Waiting: Equatable {
        let id: String
        /// Empty for an upload that an older server began.
        let sender: String
        /// When a file of the upload was last written, in nanoseconds.
        let touched: Int64
        /// Whether bytes are being received.
        var isBusy = false
    }

    /// A sender with fewer uploads than this can replace one of a sender with more than this.
    static let share = 4

    /// The upload to remove for a new one of `sender` if the limit is reached.
    ///
    /// It is the longest idle one of the sender with the most. Its sender can begin it again.
    ///
    /// - Returns: nil if the sender has its share, or no other sender has more than its share.
    static func leaving(_ uploads: [Waiting], for sender: String) -> Waiting? {
        let senders = Dictionary(grouping: uploads, by: \.sender)
        guard senders[sender]?.count ?? 0 < share else { return nil }
        let most = senders.values.filter { $0.count > share }.max { ($0.count, $1[0].id) < ($1.count, $0[0].id) }
        return most?.filter { !$0.isBusy }.min { ($0.touched, $0.id) < ($1.touched, $1.id) }
    }
}

/// Decides which uploads were idle for too long.
///
/// A file written while the clock was ahead has a time in the future, and would keep its upload, and one of the few places of its
/// sender, until then. The idle time of such an upload begins when it is first seen.
struct IdleUploads {
    /// When each upload with a time in the future was first seen.
    private var seen: [String: UTCTime] = [:]

    /// - Parameters:
    ///   - touched: the time of its last byte, by the file system.
    ///   - patience: how long an upload may be idle.
    mutating func isStale(_ id: String, touched: UTCTime, now: UTCTime, patience: Duration) -> Bool {
        guard touched > now else {
            seen[id] = nil
            return touched < now.adding(.zero - patience)
        }
        // With a clock that was even further ahead, the upload was also first seen in the future.
        let first = min(seen[id] ?? now, now)
        seen[id] = first
        return first < now.adding(.zero - patience)
    }

    mutating func forget(_ id: String) { seen[id] = nil }
}
