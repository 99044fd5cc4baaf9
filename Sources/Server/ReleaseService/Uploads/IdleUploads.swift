import PatchFormat

/// Decides which uploads were idle for too long.
///
/// A file written while the clock was ahead has a time in the future, and would keep its upload, and one of the few places of its
/// sender, until then. The idle time of such an upload begins when it is first seen.
struct IdleUploads {
    /// When each upload with a time in the future was first seen.
    private var seen: [String: UTCTime] = [:]

    /// - Parameters:
    ///   - touched: when its last byte came, by the file system.
    ///   - patience: how long an upload may be idle.
    mutating func isStale(_ id: String, touched: UTCTime, now: UTCTime, patience: Duration) -> Bool {
        guard touched > now else {
            seen[id] = nil
            return touched < now.adding(.zero - patience)
        }
        // Under a clock that was even further ahead it was seen in the future, too.
        let first = min(seen[id] ?? now, now)
        seen[id] = first
        return first < now.adding(.zero - patience)
    }

    mutating func forget(_ id: String) { seen[id] = nil }
}
