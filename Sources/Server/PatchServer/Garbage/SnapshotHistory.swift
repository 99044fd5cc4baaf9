import PatchFormat

/// Until when each snapshot of a tree was the current one, as far as the tree itself can tell.
///
/// Files are written once, so a snapshot was superseded when the next one was written. But a publish that was interrupted
/// leaves a snapshot that never was current, and one after another of them may stand between two that were. There are no
/// more of those than the snapshot's number is ahead of the timestamp's: each change that readers saw raised both by one,
/// and each that they did not see raised the snapshot's alone. Of so many successors and one more, one was current.
struct SnapshotHistory: Sendable {
    /// By version, ascending; times never go back, whatever the clock did.
    private let written: [(version: Int, at: UTCTime)]
    private let neverCurrent: Int
    private let timestampWritten: UTCTime
    /// What counts as now: no later than the newest timestamp, so that a clock that jumped ahead ages nothing.
    let now: UTCTime

    /// - Parameters:
    ///   - files: when each snapshot was written, by version.
    ///   - current: the versions that are published.
    ///   - timestampWritten: when its file was.
    ///   - signedAt: when it says so.
    ///   - clock: the machine's.
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
        // The timestamp's numbers started again, or somebody else's did: then the current one alone is known.
        neverCurrent = ahead >= 0 ? ahead : .max
    }

    /// The longest time between two signatures that counts as time.
    ///
    /// A server signs every few hours. A longer gap means that the server was off, or that a clock jumped ahead and signed. Files that
    /// were superseded shortly before a jump must not age by years at once.
    static let longestGap = Duration.hours(24)

    /// Files that were superseded before this moment are not protected any more.
    func horizon(protecting protect: Duration) -> UTCTime {
        var (left, later) = (Int(protect.components.seconds), now)
        for time in [timestampWritten] + written.reversed().map(\.at) where time <= later {
            let counted = min(later.seconds - time.seconds, Int(Self.longestGap.components.seconds))
            guard counted < left else { return time.adding(.seconds(counted - left)) }
            (left, later) = (left - counted, time)
        }
        return later.adding(.seconds(-left))
    }

    /// The latest moment at which a version below the current one may have been current still.
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
