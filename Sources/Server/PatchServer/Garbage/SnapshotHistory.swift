import PatchFormat

/// When each snapshot of a tree was superseded, derived from the tree alone.
///
/// Files are written once, so a snapshot was superseded when the next one was written. But an interrupted publish leaves a snapshot
/// that was never current, and several of these may exist between two that were. Their number is at most the difference between the
/// snapshot's version and the timestamp's: each change that readers saw raised both by one, and each that they did not see raised
/// the snapshot's alone. Of that many successors plus one, at least one was current.
struct SnapshotHistory: Sendable {
    /// The snapshots by version, ascending; times never decrease, even if the clock did.
    private let written: [(version: Int, at: UTCTime)]
    private let neverCurrent: Int
    private let timestampWritten: UTCTime
    /// The current time, at most that of the newest timestamp.
    ///
    /// A clock that jumped ahead makes no file older.
    let now: UTCTime

    /// - Parameters:
    ///   - files: when each snapshot was written, by version.
    ///   - current: the published versions.
    ///   - timestampWritten: when the timestamp's file was written.
    ///   - signedAt: when the timestamp was signed, as stated in it.
    ///   - clock: the machine's time.
    init(
        files: [Int: UTCTime],
        current: (snapshot: Int, timestamp: Int),
        timestampWritten: UTCTime,
        signedAt: UTCTime?,
        clock: UTCTime
    ) {
        let now = min(clock, max(signedAt ?? timestampWritten, timestampWritten))
        var latest: UTCTime?
        written = files.filter { $0.key < current.snapshot && $0.value <= now }.sorted { $0.key < $1.key }.map {
            let at = max($0.value, latest ?? $0.value)
            latest = at
            return ($0.key, at)
        }
        self.now = now
        self.timestampWritten = timestampWritten
        let ahead = current.snapshot - current.timestamp
        // The timestamp's versions started again, or another history's did: then only the current snapshot is known.
        neverCurrent = ahead >= 0 ? ahead : .max
    }

    /// The longest time between two signatures that is counted.
    ///
    /// A server signs every few hours. A longer gap means that the server was off, or that a clock jumped ahead and signed. Files
    /// that were superseded shortly before a jump must not age by years at once.
    static let longestGap = Duration.hours(24)

    /// The moment before which superseded files are no longer protected.
    func horizon(protecting protect: Duration) -> UTCTime {
        var (left, later) = (Int(protect.components.seconds), now)
        for time in [timestampWritten] + written.reversed().map(\.at) where time <= later {
            let counted = min(later.seconds - time.seconds, Int(Self.longestGap.components.seconds))
            guard counted < left else { return time.adding(.seconds(counted - left)) }
            (left, later) = (left - counted, time)
        }
        return later.adding(.seconds(-left))
    }

    /// The latest moment at which a version below the current one may still have been current.
    func superseded(_ version: Int) -> UTCTime {
        let first = firstSuccessor(of: version)
        guard neverCurrent < written.count - first else { return timestampWritten }
        return written[first + neverCurrent].at
    }

    private func firstSuccessor(of version: Int) -> Int {
        var range = written.startIndex..<written.endIndex
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = written[middle].version <= version ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
